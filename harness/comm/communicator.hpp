#pragma once

#include <ucp/api/ucp.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "harness/comm/endpoint.hpp"
#include "harness/comm/progress.hpp"
#include "harness/comm/transfer_log.hpp"
#include "harness/comm/worker.hpp"
#include "harness/launch/rendezvous.hpp"

namespace ucxbench {

/// Messages that are waited for together.
struct Batch {
  std::size_t in_flight = 0;
  bool done() const { return in_flight == 0; }
};

/// All ranks of a launch, each with an endpoint to every other over one UCX worker; tagged
/// messages. Of one thread. Buffers belong to the caller until the message's batch is done.
class Communicator {
 public:
  struct Setup {
    ConnectBy connect_by = ConnectBy::address;
    std::string net_devices{};
    ProgressMode progress{};   ///< poll or event
    bool crowded = false;      ///< some ranks wait for a processor: others go first
    bool takes_turns = false;  ///< rest() sleeps, whatever the progress
  };

  /// Connects every pair. Throws Failure.
  Communicator(Rendezvous& rendezvous, const Setup& setup);
  /// What is still in flight is forgotten, whether or not its batch is still there.
  ~Communicator();
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;

  int rank() const { return rank_; }
  int size() const { return size_; }

  /// Begins a message; it matches the receive with the same label. A label is used for one message
  /// at a time between two ranks. Never to or from this rank itself. Throws
  /// Failure(Exit::cannot_run) when the label is not below 2^47: those above are the barriers'.
  void send(int to, std::uint64_t label, std::span<const std::byte> bytes, Batch& batch);
  void receive(int from, std::uint64_t label, std::span<std::byte> bytes, Batch& batch);

  /// One step of UCX's progress. Throws Failure when a message failed: Exit::wrong_data for one of
  /// another length than was expected, else Exit::lost.
  void progress();

  /// The same, by a rank that waits for messages: in event mode it sleeps when nothing happened
  /// (among more ranks than processors it first lets others run),
  /// and none has ended since it was called last (some are over as they are posted: nothing wakes
  /// then).
  void wait_a_step();
  /// The same, by a rank whose turn it is not, or that waits for an answer of the rendezvous:
  /// sleeps in event mode, and where ranks take turns.
  void rest(const Rendezvous& rendezvous);
  /// How long wait_a_step() has slept, or let others run, in all, in nanoseconds.
  std::uint64_t asleep_ns() const { return asleep_ns_; }

  void wait(const Batch& batch) {
    while (!batch.done()) wait_a_step();
  }

  /// Returns when all ranks have come: ⌈log2 N⌉ rounds of one-byte messages (the dissemination
  /// barrier of Hensgen, Finkel and Manber, 1988).
  void barrier();

  /// Configured lanes to a peer, "tcp/lo".
  std::vector<std::string> lanes(int peer) const;
  const std::map<std::string, std::string>& effective() const { return worker_.effective(); }

  /// Transfers from now on go into `log`, with `iteration`; null: into none.
  void log_into(TransferLog* log, std::uint32_t iteration);

  /// Ends all communication: all ranks call it, when all of their messages have arrived. The
  /// connections then end with this object, and nobody looks at them meanwhile.
  void close(Rendezvous& rendezvous);

 private:
  struct Message {
    Communicator* owner = nullptr;
    Batch* batch = nullptr;
    std::size_t logged = TransferLog::none;
    std::size_t bytes = 0;
  };

  void connect_to_addresses(Rendezvous& rendezvous, const Rendezvous::Progress& step);
  void post_send(int to, std::uint64_t label, std::span<const std::byte> bytes, Batch& batch);
  void post_receive(int from, std::uint64_t label, std::span<std::byte> bytes, Batch& batch);
  Message* begin(int peer, std::uint64_t label, std::size_t bytes, bool receives, Batch& batch);
  void end(Message* message, ucs_status_t status);
  void posted(Message* message, ucs_status_ptr_t request);
  ucp_request_param_t params(Message* message) const;

  bool take_step();
  bool give_way();

  int rank_, size_;
  bool sleeps_;
  bool crowded_;
  bool yielded_ = false;          // since anything happened, or since the last sleep
  std::deque<Message> messages_;  // the worker's end calls back with those that are in flight
  UcxWorker worker_;
  std::optional<Sleeper> sleeper_;
  std::uint64_t asleep_ns_ = 0;
  bool ended_any_ = false;                            // message, since the last wait
  std::deque<std::optional<UcxEndpoint>> endpoints_;  // by rank; none to this one
  std::vector<Message*> free_;
  const Message* posting_ = nullptr;  // the message that is being handed to UCX now
  std::size_t in_flight_ = 0;
  std::uint64_t barriers_ = 0;
  ucs_status_t error_ = UCS_OK;
  bool wrong_length_ = false;
  TransferLog* log_ = nullptr;
  std::uint32_t iteration_ = 0;
};

}  // namespace ucxbench
