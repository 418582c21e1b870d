#pragma once

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "harness/comm/transport_set.hpp"
#include "harness/core/failure.hpp"
#include "harness/launch/environment.hpp"
#include "harness/launch/process.hpp"
#include "harness/launch/remote.hpp"
#include "harness/launch/signals.hpp"
#include "harness/result/result.hpp"

namespace ucxbench {

/// How the processes of a command are started.
struct CommandSetup {
  std::string benchmark;
  int ranks = 2;  ///< the most of any group
  std::chrono::milliseconds timeout{60'000};
  std::string wrap;
  std::vector<std::vector<int>> cpus;  ///< per rank; empty: not pinned
  std::optional<int> near_cpus{};      ///< --bind auto: how many each wants near to its data
  Variables ucx;                       ///< --ucx
  bool strict = false;                 ///< a set that cannot run is a failure of the run
};

/// The cases that one set of processes measures in one launch: one transport set, memory and number
/// of ranks.
struct Group {
  TransportSet set;
  int ranks = 2;
  std::string variant;             ///< what else tells it from others: "cuda-host, ranks 4"
  std::vector<std::size_t> cases;  ///< in Result::cases
  std::vector<UcxSetting> settings;
  std::vector<std::string> net_devices;  ///< UCX_NET_DEVICES per rank; empty: as in `settings`
  std::string unavailable;               ///< why it cannot run here; empty when it can
  CommandSetup setup;                    ///< of the command that it belongs to

  /// "tcp+nvlink", or "tcp+nvlink, cuda-host".
  std::string name() const { return variant.empty() ? set.name() : set.name() + ", " + variant; }
};

Variables settings_of(const Group& group);

/// What all groups of a run have in common.
struct RunSetup {
  int launches = 6;
  std::optional<int> only_launch;  ///< of these, counted from 0; empty: all
  /// From the first launch on: one that, taking as long as its group's last, would end later is
  /// left out. Empty: no limit.
  std::optional<std::chrono::nanoseconds> max_time;
  bool canary = false;                 ///< measure the host itself before each round of launches
  std::filesystem::path output;        ///< written after each case of each launch
  RemoteSupervisor* remote = nullptr;  ///< the other half of a --listen run
};

/// Learns how far a run is; called between timed regions only.
class RunObserver {
 public:
  virtual ~RunObserver() = default;
  virtual void launch_begins(const Group& group, int launch, int launches) = 0;
  virtual void case_done(const Case& measured, std::size_t done, std::size_t total) = 0;
  virtual void group_skipped(const Group& group) = 0;
  /// The run file cannot be where it was asked for: one line for the user.
  virtual void run_file_moved(const std::string& line) = 0;
};

/// Runs every launch of every group: A B C, C B A, …, so that a slow drift of the machine meets all
/// groups alike; groups may be of several benchmarks. `result.cases` are planned before and have
/// their end state after; `result.run` says how it ended. Data that were measured are on disk
/// whatever happens: `result.file` says where. The exit status is the worst of all launches.
Exit run_groups(Result& result, std::vector<Group> groups, const RunSetup& setup, Signals& signals,
                RunObserver& observer);

/// How a rank of this program is started, on either side of a remote run. `settings` as in
/// CommandSetup and Group.
RankCommand rank_command(const Variables& settings, const Variables& from_user,
                         const std::string& wrap, const std::vector<int>& cpus);

}  // namespace ucxbench
