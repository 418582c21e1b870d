#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "harness/core/failure.hpp"
#include "harness/launch/channel.hpp"
#include "harness/launch/lifeline.hpp"
#include "harness/launch/rendezvous.hpp"

namespace ucxbench {

/// The rank's side of a Rendezvous over the control connection that its supervisor left it. While a
/// verb waits, `progress` is called without pause, yielding the CPU in between; without `progress`
/// the rank sleeps. The supervisor's watchdog is what limits these waits. One thread at a time.
class ChannelRendezvous final : public Rendezvous {
 public:
  /// True in a process that a supervisor started as a rank.
  static bool is_rank();

  /// From the inherited descriptor and variables, with a Lifeline. Null when the descriptor is not
  /// there, as under a wrapper that closes what it does not know. Once in a process, which it must
  /// outlive.
  /// From then on every exception that nobody catches ends this process by `abort`, on whatever
  /// thread, with its stack as it is at the throw: no destructor frees what UCX or a peer still
  /// uses. There must be no catch around the rank's work, which would unwind the stack.
  static std::unique_ptr<ChannelRendezvous> from_environment();

  /// Over any connected stream socket, without a Lifeline.
  ChannelRendezvous(Fd control, int rank, int size);

  int rank() const override { return rank_; }
  int size() const override { return size_; }
  int rank_on_machine() const override { return on_machine_; }
  int answer_fd() const override { return channel_.fd(); }
  void put(std::string_view key, const Bytes& value, const Progress& progress) override;
  Bytes get(std::string_view key, const Progress& progress) override;
  std::vector<Bytes> all_gather(std::string_view key, const Bytes& own,
                                const Progress& progress) override;
  void barrier(const Progress& progress) override;
  void at_stop(const Finished& finished) override;
  void phase(std::string_view what) override;

  /// Tells the supervisor why the run must end: with this reason and status, of which only the
  /// first of a launch counts. Then waits to be ended with the other ranks, two seconds at most:
  /// they may be reading this process's memory, and would fail first if it went away.
  [[noreturn]] void abort(const Failure& failure) noexcept;

  /// The last word of a rank that did all of its work. One that exits without it counts as lost.
  void finish();

 private:
  void abort_on_uncaught();
  nlohmann::json ask(const nlohmann::json& request, std::string_view answer,
                     const Progress& progress);

  Channel channel_;
  int rank_;
  int size_;
  int on_machine_;
  std::optional<Lifeline> lifeline_;
};

}  // namespace ucxbench
