#pragma once

#include <functional>
#include <memory>
#include <unordered_map>
#include <vector>

#include "harness/launch/events.hpp"
#include "harness/launch/local_rank.hpp"

namespace ucxbench {

/// The ranks of one launch on this host, which may be some of all: starts them, watches them, ends
/// them. Of one thread.
class LocalRanks {
 public:
  using Clock = LocalRank::Clock;
  /// Takes what a rank says.
  using OnFrame = std::function<void(int rank, const Channel::Frame& frame)>;
  /// Takes what is wrong with one.
  using OnBlame = std::function<void(int rank, const Blame& blame)>;

  /// Tags of `events` with this bit are those of ranks.
  static constexpr Events::Tag tag_bit = Events::Tag{1} << 63U;
  /// Of the signals, in a supervisor as in one that follows another host's.
  static constexpr Events::Tag signals_tag = 0;

  /// `events` must outlive this. `size`: of all hosts.
  LocalRanks(Events& events, int size, OnFrame on_frame, OnBlame on_blame);

  /// Throws what LocalRank throws.
  void start(const RankCommand& command, int rank, int stop_fd, const GivenUp& given_up);

  const std::vector<std::unique_ptr<LocalRank>>& all() const { return ranks_; }
  /// Null: it is not here, or not started.
  LocalRank* find(int rank) const;
  /// To one that is here, or to all of them (Hub::all_ranks). One that is dying, stopped or hung
  /// gets nothing: `check` will say which.
  void send(int rank, const Channel::Frame& frame) const;

  /// What has come from the rank of a ready tag.
  void take(Events::Tag tag, Clock::time_point now);
  /// After SIGCHLD, and now and then: who has ended, was stopped or goes on.
  void look(Clock::time_point now);
  /// Who was stopped or silent for too long.
  void check(Clock::time_point now);
  void forgive(Clock::time_point now);

  /// LocalRank's, of any.
  bool death_to_come() const;

  /// What the threads of one do, as far as `limit` lets look; empty when it is not here any more.
  std::string stacks(int rank, std::chrono::milliseconds limit) const;

  /// Kills all that is left, waits for the deaths and removes what they leave. Returns those that
  /// hang in the kernel. `soon`: the user waits. The kernel takes seconds to take hundreds of ranks
  /// apart, with all of their connections: after 100 ms a small process waits for those that are
  /// left, which do nothing more, and removes what they leave.
  std::vector<int> end(bool soon);

 private:
  void leave_to_a_child(const std::vector<LocalRank*>& dying, const Traces& left);
  void receive(LocalRank& rank, Clock::time_point now);
  LocalRank::OnFrame from(const LocalRank& rank) const;

  Events& events_;
  int size_;
  OnFrame on_frame_;
  OnBlame on_blame_;
  std::vector<std::unique_ptr<LocalRank>> ranks_;
  std::vector<LocalRank*> by_rank_;
  std::unordered_map<pid_t, LocalRank*> by_pid_;
};

}  // namespace ucxbench
