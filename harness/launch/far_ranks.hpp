#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "harness/launch/events.hpp"
#include "harness/launch/hub.hpp"
#include "harness/launch/local_rank.hpp"
#include "harness/launch/remote.hpp"

namespace ucxbench {

/// The ranks of one launch on hosts 1, 2, …, by way of the supervisors there: starts them, hears
/// them, ends them. Of one thread. LocalRanks are those of host 0, this one.
class FarRanks {
 public:
  using Clock = RemoteSupervisor::Clock;
  struct Listener {
    /// Takes what a rank says.
    std::function<void(int rank, const nlohmann::json& frame)> on_frame;
    /// Takes what is wrong with one.
    std::function<void(int rank, const Blame& blame)> on_blame;
    /// Takes what is wrong with a host whose ranks were not all gone; now they are.
    std::function<void(int host, const std::string& problem)> on_lost;
    /// The user ended the run there.
    std::function<void(const std::string& host)> on_leave;
    std::function<void(int rank, const std::string& text)> on_stacks;
  };

  /// `hosts`: by rank, the number of its host; empty: all `size` ranks are here. All but `listener`
  /// must outlive this.
  FarRanks(Events& events, int size, const std::vector<int>& hosts, const RemoteSupervisors& others,
           Listener listener);

  int host_of(int rank) const;
  std::vector<int> ranks_of(int host) const;
  /// Its name; `host` is not 0.
  const std::string& host_name(int host) const { return other(host).host(); }
  bool gone(int rank) const { return far_[static_cast<std::size_t>(rank)].gone; }
  /// Each has reported or is gone.
  bool all_reported() const;
  /// Where the user stopped the run; empty: nowhere.
  const std::string& stopped_on() const { return stopped_on_; }

  /// `told`: what the supervisor of each host starts its ranks from. Throws Failure(Exit::lost), as
  /// `stop` does.
  void start(const Hub::Values& preset, const std::vector<nlohmann::json>& told);
  void stop() const;
  /// Frames for one rank, or for all of them (Hub::all_ranks), which go to each host once.
  void send(const Hub::Reply& reply);
  /// What has come from the host of a ready tag.
  void take(Events::Tag tag, Clock::time_point now);
  /// Which host is silent or has ended.
  void check(Clock::time_point now);
  void forgive(Clock::time_point now) const;

  /// Asks for what the threads of a rank do, in no more than `limit`; the answer is a frame.
  void ask_for_stacks(int rank, std::chrono::milliseconds limit);
  /// Answers that have not come.
  int stacks_awaited() const { return stacks_awaited_; }

  /// Returns when all are gone, or after 5 s, with what went wrong.
  std::vector<Failure> end() const;

 private:
  struct Far {
    bool gone = false;
    bool reported = false;
  };

  int hosts() const { return static_cast<int>(others_.size()); }
  RemoteSupervisor& other(int host) const { return *others_[static_cast<std::size_t>(host) - 1]; }
  void take_frame(int host, const nlohmann::json& frame);
  bool tell(int host, const nlohmann::json& frame);
  void lose(int host, const std::string& problem);

  Events& events_;
  const std::vector<int>& host_of_;
  const RemoteSupervisors& others_;
  Listener listener_;
  std::vector<Far> far_;  ///< by rank
  std::string stopped_on_;
  int stacks_awaited_ = 0;
};

}  // namespace ucxbench
