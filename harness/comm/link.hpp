#pragma once

#include <concepts>
#include <cstddef>
#include <string>

#include "harness/memory/buffer.hpp"

namespace ucxbench {

/// Where the messages of a link come from and go to. One send buffer and one receive buffer serve
/// all messages of a window, as in ucx_perftest.
struct LinkBuffers {
  std::byte* send = nullptr;  ///< a put that is waited for ends with a number
  std::byte* receive = nullptr;
  std::size_t bytes = 0;
  int window = 1;           ///< sends, and receives, that may be outstanding
  bool many_sends = false;  ///< UCP_OP_ATTR_FLAG_MULTI_SEND: bandwidth, never latency
  bool requests = false;  ///< one for each send: UCX counts none that is sent without (worker.hpp)
  MemoryKind send_kind = MemoryKind::host;
  MemoryKind receive_kind = MemoryKind::host;
};

/// One side of a pair's messages, as timed loops use it: no call is virtual. One class for each
/// device, API and progress mode.
template <typename T>
concept Link = requires(T& link, const LinkBuffers& buffers) {
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
