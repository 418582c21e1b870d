#pragma once

#include <concepts>
#include <cstddef>
#include <string>

#include "harness/memory/buffer.hpp"

struct ucp_mem;

namespace ucxbench {

/// How UCX is given each message, and takes it, beside its bytes. As it is by default a message is
/// one contiguous buffer without a header, UCX registers memory by itself, and receives are posted
/// as soon as the window allows.
struct MessageForm {
  /// Parts of a message, as equal as can be, one after the other in its buffer: an I/O vector on
  /// both sides. 0: none.
  int entries = 0;
  bool unexpected = false;  ///< a receive is posted when its message is there (tags)
  bool registered = false;  ///< with the user's own memory handle, made by use()
  /// Of active messages: what is sent with each, and where that of the last one is kept.
  std::byte* header = nullptr;
  std::byte* received_header = nullptr;
  std::size_t header_bytes = 0;
};

/// Where the messages of a link come from and go to. One send buffer and one receive buffer serve
/// all messages of a window, as in ucx_perftest, unless there are more places.
struct LinkBuffers {
  std::byte* send = nullptr;  ///< a put that is waited for ends with a number
  std::byte* receive = nullptr;
  std::size_t bytes = 0;
  int window = 1;           ///< sends, and receives, that may be outstanding
  bool many_sends = false;  ///< UCP_OP_ATTR_FLAG_MULTI_SEND: bandwidth, never latency
  bool requests = false;  ///< one for each send: UCX counts none that is sent without (worker.hpp)
  MemoryKind send_kind = MemoryKind::host;
  MemoryKind receive_kind = MemoryKind::host;
  /// Places for a message in each of the two buffers: a power of two; one for messages with parts,
  /// and for atomic operations. All of them are used in turn, in an order that no prefetcher
  /// follows. A put or get has the same place on both sides.
  std::size_t places = 1;
  MessageForm form{};
  /// Of form.registered, by whoever knows the context of UCX: ucp_mem_h of the two buffers.
  ucp_mem* send_handle = nullptr;
  ucp_mem* receive_handle = nullptr;

  /// Of the send buffer and of the receive buffer, which threads divide among them.
  std::size_t room = 0;

  /// Of a place, in bytes: whole cache lines.
  static constexpr std::size_t place_bytes(std::size_t bytes) {
    constexpr std::size_t line = 64;
    return (bytes + line - 1) / line * line;
  }
  /// Of all places of a buffer, in bytes.
  std::size_t all_bytes() const { return places > 1 ? places * place_bytes(bytes) : bytes; }
  /// Where the `number`th message, counted from 0, is; in bytes from the first place.
  std::size_t offset(std::size_t number) const {
    constexpr std::size_t odd = 0x9e3779b1U;  // 2^32 by the golden ratio, odd: neighbours are far
    return (number * odd & (places - 1)) * place_bytes(bytes);
  }
};

/// One side of a pair's messages, as timed loops use it: no call is virtual. One class for each
/// device, API and progress mode.
template <typename T>
concept MessageLink = requires(T& link, const LinkBuffers& buffers) {
  link.use(buffers);
  { link.can_send() } -> std::same_as<bool>;
  { link.can_receive() } -> std::same_as<bool>;
  link.send();           // posts one message; waits first while the window is full
  link.receive();        // posts one receive, or takes a message where only one can be under way
  link.start_receive();  // posts one receive, and never takes its message
  link.wait_sends();
  link.wait_receives();
  link.signal();  // one byte in order with the messages
  link.await_signal();
  link.flush();  // what was sent has reached the peer's side
  { link.send_described() } -> std::same_as<std::string>;  // send(), and in words how it went
  link.progress().turn();                                  // one step, without waiting
  link.progress().until([] { return true; });
};

}  // namespace ucxbench
