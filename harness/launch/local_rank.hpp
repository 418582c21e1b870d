#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>

#include "harness/core/failure.hpp"
#include "harness/launch/channel.hpp"
#include "harness/launch/leftovers.hpp"
#include "harness/launch/process.hpp"
#include "harness/launch/rank_output.hpp"

namespace ucxbench {

/// What went wrong with a rank, worded to follow "rank 1 on node07 ".
struct Blame {
  std::string text;
  Exit exit = Exit::lost;
  bool root_cause = false;  ///< comes from outside: never the consequence of another rank's end
};

// Of whoever watches ranks. Deaths and messages wake it at once; its tick is for limits only, and
// rare enough not to disturb what is being measured. A round that takes longer than the longest
// means that it was stopped or busy itself.
inline constexpr std::chrono::milliseconds watch_tick{250};
inline constexpr std::chrono::milliseconds longest_watch_round{1000};
inline constexpr std::chrono::milliseconds reap_limit{2000};

/// One rank on this host: starts it, watches it, ends it.
class LocalRank {
 public:
  using Clock = std::chrono::steady_clock;
  using OnFrame = std::function<void(Channel::Frame)>;

  /// Throws what spawn_rank throws.
  LocalRank(const RankCommand& command, int rank, int size);
  /// Ends what is left.
  ~LocalRank();
  LocalRank(const LocalRank&) = delete;
  LocalRank& operator=(const LocalRank&) = delete;

  int rank() const { return rank_; }
  int fd() const { return channel_.fd(); }
  bool readable() const { return !channel_.ended(); }
  /// To wait for what it prints; -1 when nobody can print any more.
  int output_fd() const { return output_->fd(); }

  /// Hands over what arrived, and passes on what it printed: of UCX's warnings there, too, a frame
  /// {"type": "warning", "line": …}. Throws Failure(Exit::lost) on garbage.
  void receive(Clock::time_point now, const OnFrame& on_frame);
  void send(const Channel::Frame& frame) { channel_.send(frame, std::chrono::seconds(1)); }

  /// Looks for a death, a stop or a missing heartbeat; each is reported once.
  std::optional<Blame> check(Clock::time_point now, const OnFrame& on_frame);

  /// Starts all limits again, after a time in which the supervisor itself did not run.
  void forgive(Clock::time_point now);

  /// The process has exited and was reaped.
  bool gone() const { return reaped_; }

  /// It said that its work was done, and exited with status 0.
  bool ended_well() const { return ended_well_; }

  /// By what to find its shared memory once it is dead.
  const Traces& traces() const { return traces_; }

  /// Kills the process group, stopped members included.
  void kill();
  /// Waits for the death; false when `limit` passed, as for a process stuck in the kernel.
  bool reap(std::chrono::milliseconds limit);

 private:
  void note(const Channel::Frame& frame);
  std::optional<Blame> check_exit(Clock::time_point now, const OnFrame& on_frame);
  void check_stop(Clock::time_point now);
  static RankOutput::OnWarning to_frames(const OnFrame& on_frame);

  int rank_;
  pid_t pid_ = -1;
  Traces traces_;
  std::optional<RankOutput> output_;  ///< from the start on
  Channel channel_;
  bool reaped_ = false;
  bool ended_well_ = false;
  bool blamed_ = false;
  bool finished_ = false;
  bool failed_ = false;
  int stop_signal_ = 0;
  Clock::time_point stopped_since_;
  std::optional<Clock::time_point> last_heard_;
  std::optional<Clock::time_point> ended_since_;
};

}  // namespace ucxbench
