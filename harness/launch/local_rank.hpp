#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <set>
#include <string>

#include "harness/core/failure.hpp"
#include "harness/launch/channel.hpp"
#include "harness/launch/leftovers.hpp"
#include "harness/launch/oom_kills.hpp"
#include "harness/launch/process.hpp"
#include "harness/launch/rank_output.hpp"

namespace ucxbench {

/// What went wrong with a rank, worded to follow "rank 1 on node07 ".
struct Blame {
  std::string text;
  Exit exit = Exit::lost;
  bool root_cause = false;  ///< comes from outside: never the consequence of another rank's end
  bool hung = false;        ///< it still is there, and its stacks say where it is
  bool after_all = false;   ///< it had done its work, and reported everything
};

// Of whoever watches ranks. Deaths and messages wake it at once; its tick is for limits only, and
// rare enough not to disturb what is being measured. A round that takes longer than the longest
// means that it was stopped or busy itself.
inline constexpr std::chrono::milliseconds watch_tick{250};
inline constexpr std::chrono::milliseconds longest_watch_round{1000};
inline constexpr std::chrono::seconds reap_limit{10};  // a busy host's

/// The process groups in which a process is stopped: a wrapper that forks is what waitid sees, so
/// whether the rank behind it is stopped has to be read from /proc.
std::set<pid_t> stopped_process_groups();

/// A child of this process that has ended, was stopped or goes on, and of which nobody has been
/// told yet; empty if there is none.
std::optional<pid_t> changed_child();

/// One rank on this host: starts it, watches it, ends it.
class LocalRank {
 public:
  using Clock = std::chrono::steady_clock;
  using OnFrame = std::function<void(Channel::Frame)>;

  /// Throws what spawn_rank throws, whose `stop_fd` and `given_up` they are.
  LocalRank(const RankCommand& command, int rank, int size, int stop_fd, const GivenUp& given_up);
  /// Ends what is left.
  ~LocalRank();
  LocalRank(const LocalRank&) = delete;
  LocalRank& operator=(const LocalRank&) = delete;

  int rank() const { return rank_; }
  pid_t pid() const { return pid_; }
  int fd() const { return channel_.fd(); }
  bool readable() const { return !channel_.ended(); }
  /// A send found that it had ended.
  bool closed() const { return channel_.closed(); }
  /// To wait for what it prints; -1 when nobody can print any more.
  int output_fd() const { return output_->fd(); }

  /// Hands over what arrived. Throws Failure(Exit::lost) on garbage.
  void receive(Clock::time_point now, const OnFrame& on_frame);
  /// Passes on what it printed: of UCX's warnings there, too, a frame {"type": "warning", "line":
  /// …}.
  void pass_on_output(const OnFrame& on_frame) { output_->pass_on(to_frames(on_frame)); }
  void send(const Channel::Frame& frame) { channel_.send(frame, std::chrono::seconds(1)); }

  /// Asks the kernel whether it has ended, was stopped or goes on. A death is reported once.
  std::optional<Blame> look(Clock::time_point now, const OnFrame& on_frame);

  /// Looks for a stop or a silence that has lasted too long; each is reported once. Process groups
  /// with a stopped member are asked for only after a silence.
  std::optional<Blame> check(Clock::time_point now,
                             const std::function<std::set<pid_t>()>& stopped_groups);

  /// Starts all limits again, after a time in which the supervisor itself did not run.
  void forgive(Clock::time_point now);

  /// The process has exited and was reaped.
  bool gone() const { return reaped_; }

  /// It died at its work, and the wrapper that started it has not ended yet.
  bool death_to_come() const;

  /// It said that its work was done, and exited with status 0.
  bool ended_well() const { return ended_well_; }

  /// Nothing is to be expected from it once the ranks were asked for what they have finished: it
  /// has answered, is gone, or had not begun.
  bool has_reported() const { return reaped_ || reported_ || !last_heard_; }

  /// What its threads do (stacks_of_group); empty when it is gone.
  std::string stacks(Clock::time_point deadline) const;

  /// By what to find its shared memory once it is dead.
  const Traces& traces() const { return traces_; }

  /// Kills the process group, stopped members included.
  void kill();
  /// What it has left to do, the ends of its connections, becomes less urgent than anything else.
  void give_way() const;
  /// Its death is no longer waited for.
  void leave() { reaped_ = true; }
  /// Waits for the death; false when it is too late, as for a process stuck in the kernel.
  bool reap(Clock::time_point deadline);

 private:
  void note(const Channel::Frame& frame);
  std::optional<Blame> take_exit(Clock::time_point now, const OnFrame& on_frame);
  void take_stops(Clock::time_point now);
  std::optional<Blame> once(Blame blame);
  static RankOutput::OnWarning to_frames(const OnFrame& on_frame);

  int rank_;
  pid_t pid_ = -1;
  Traces traces_;
  std::optional<RankOutput> output_;  ///< from the start on
  Channel channel_;
  std::optional<OomKills> oom_kills_before_ = oom_kills();
  bool reaped_ = false;
  bool ended_well_ = false;
  bool blamed_ = false;
  bool finished_ = false;
  bool failed_ = false;
  bool reported_ = false;
  int stop_signal_ = 0;
  Clock::time_point stopped_since_;
  std::optional<Clock::time_point> last_heard_;
  std::optional<Clock::time_point> ended_since_;
};

}  // namespace ucxbench
