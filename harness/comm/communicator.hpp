#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "harness/comm/device.hpp"
#include "harness/comm/transfer_log.hpp"
#include "harness/launch/rendezvous.hpp"

namespace ucxbench {

/// All ranks of a launch, each connected with every other over one device; labelled messages. Of
/// one thread. Buffers belong to the caller until the message's batch is done.
class Communicator {
 public:
  using Setup = CommSetup;

  /// Connects every pair. Throws Failure.
  Communicator(Rendezvous& rendezvous, const Setup& setup);
  Communicator(Rendezvous& rendezvous, const Setup& setup, std::unique_ptr<CommDevice> device);
  /// What is still in flight is forgotten, whether or not its batch is still there.
  ~Communicator();
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;

  int rank() const { return rank_; }
  int size() const { return size_; }

  /// Begins a message; it matches the receive with the same label. A label is used for one message
  /// at a time between two ranks. Never to or from this rank itself. Throws
  /// Failure(Exit::cannot_run) when the label is not below 2^26: those above are the barriers'.
  void send(int to, std::uint64_t label, std::span<const std::byte> bytes, Batch& batch);
  void receive(int from, std::uint64_t label, std::span<std::byte> bytes, Batch& batch);

  /// One step of the device's progress. Throws Failure when a message failed: Exit::wrong_data for
  /// one of another length than was expected, else Exit::lost.
  void progress() { device_->step(); }

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

  /// What messages to a peer may take, "tcp/lo".
  std::vector<std::string> lanes(int peer) const { return device_->lanes(peer); }
  /// Those of messages to any peer, each once.
  std::vector<std::string> lanes_to_all() const;
  const std::map<std::string, std::string>& effective() const { return device_->effective(); }

  /// Transfers from now on go into `log`, with `iteration`; null: into none.
  void log_into(TransferLog* log, std::uint32_t iteration);

  /// Ends all communication: all ranks call it, when all of their messages have arrived. The
  /// connections then end with this object, and nobody looks at them meanwhile.
  void close(Rendezvous& rendezvous);

 private:
  friend struct Message;

  void post_send(int to, std::uint64_t label, std::span<const std::byte> bytes, Batch& batch);
  void post_receive(int from, std::uint64_t label, std::span<std::byte> bytes, Batch& batch);
  Message& begin(int peer, std::uint64_t label, std::size_t bytes, bool receives, Batch& batch);
  void end(Message& message);
  bool give_way();

  int rank_, size_;
  bool sleeps_;
  bool may_sleep_;
  bool crowded_;
  bool yielded_ = false;          // since anything happened, or since the last sleep
  std::deque<Message> messages_;  // the device's end may still touch those that are in flight
  std::unique_ptr<CommDevice> device_;
  std::uint64_t asleep_ns_ = 0;
  bool ended_any_ = false;  // message, since the last wait
  std::vector<Message*> free_;
  const Message* posting_ = nullptr;  // the message that is being handed to the device now
  std::size_t in_flight_ = 0;
  std::uint64_t barriers_ = 0;
  TransferLog* log_ = nullptr;
  std::uint32_t iteration_ = 0;
};

}  // namespace ucxbench
