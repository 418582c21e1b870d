#include "harness/run/runner.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <numeric>

#include "harness/analysis/findings.hpp"
#include "harness/analysis/run_limits.hpp"
#include "harness/core/files.hpp"
#include "harness/core/units.hpp"
#include "harness/launch/supervisor.hpp"
#include "harness/result/cases.hpp"
#include "harness/result/run_file.hpp"
#include "harness/result/transfers.hpp"
#include "harness/run/canary.hpp"
#include "harness/run/case_report.hpp"
#include "harness/run/host_copies.hpp"
#include "harness/run/hosts.hpp"
#include "harness/run/processors.hpp"
#include "harness/run/provenance.hpp"
#include "harness/run/trouble.hpp"
#include "harness/run/wire.hpp"
#include "harness/topology/cpus.hpp"

namespace ucxbench {
namespace {

class Run {
 public:
  Run(Result& result, std::vector<Group> groups, const RunSetup& setup, Signals& signals,
      RunObserver& observer)
      : result_(result),
        groups_(std::move(groups)),
        setup_(setup),
        signals_(signals),
        observer_(observer),
        file_(setup.output,
              [&observer](const std::string& line) { observer.run_file_moved(line); }),
        last_launch_(groups_.size()),
        launches_(groups_.size()) {}

  Exit run() {
    skip_unavailable();
    record_environment();
    copying_cpus_ = copying_cpus();
    std::vector<std::size_t> order(groups_.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    for (int launch = 0; launch < setup_.launches && !ended_; ++launch) {
      if (std::ranges::none_of(order, [&](auto index) { return can_start(index); })) break;
      if (setup_.only_launch.value_or(launch) == launch) run_round(order, launch);
      std::reverse(order.begin(), order.end());
    }
    finish();
    return exit_;
  }

 private:
  void skip_unavailable() {
    for (const auto& group : groups_) {
      if (!group.unavailable.empty()) skip(group, group.unavailable);
    }
    file_.begin(to_text(to_json(result_)), least_growth());
  }

  /// Of the run file, in bytes: by what ranks say of themselves, and by a case's samples in a
  /// launch. Half of what a short run was seen to take.
  std::uint64_t least_growth() const {
    constexpr std::uint64_t of_ranks = 4096;
    constexpr std::uint64_t of_a_launch = 2048;
    std::uint64_t cases = 0;
    for (const auto& group : groups_) cases += group.unavailable.empty() ? group.cases.size() : 0;
    const auto launches = setup_.only_launch || setup_.max_time ? 1 : setup_.launches;
    return of_ranks + of_a_launch * cases * static_cast<std::uint64_t>(launches);
  }

  void skip(const Group& group, const std::string& reason) {
    for (const auto index : group.cases) {
      auto& skipped = result_.cases[index];
      if (!skipped.launches.empty()) continue;
      skipped.state = CaseState::skipped;
      skipped.reason = reason;
    }
    observer_.group_skipped(group);
    if (group.setup.strict) exit_ = worse(exit_, Exit::cannot_run);
  }

  bool can_start(std::size_t index) const {
    if (!groups_[index].unavailable.empty()) return false;
    return !setup_.max_time || !begin_ ||
           std::chrono::steady_clock::now() - *begin_ + last_launch_[index] <= *setup_.max_time;
  }

  void record_environment() {
    for (const auto& group : groups_) {
      const auto environment =
          rank_environment(current_environment(), settings_of(group), group.setup.ucx);
      auto& record = result_.ucx["environment"];
      record["asked"][group.name()] = environment.asked;
      record["inherited"] = environment.inherited;
      record["replaced"] = environment.replaced;
      total_ += group.unavailable.empty() ? group.cases.size() : 0;
    }
    if (!setup_.only_launch) total_ *= static_cast<std::size_t>(setup_.launches);
  }

  int local_ranks(const Group& group) const {
    return group.ranks - (setup_.remote != nullptr ? 1 : 0);
  }

  /// Those of ranks of this host that may share memory.
  std::vector<int> copying_cpus() const {
    std::vector<int> cpus;
    for (const auto& group : groups_) {
      const bool shares = group.set.has("shm") || group.set.has("auto");
      const bool on_host = std::ranges::any_of(
          group.cases, [&](auto index) { return of_memory(result_.cases[index], "host"); });
      if (!group.unavailable.empty() || !shares || !on_host || local_ranks(group) < 2) continue;
      if (auto more = cpus_of(group); more.size() > cpus.size()) cpus = std::move(more);
    }
    return cpus;
  }

  /// How fast memory is copied without UCX.
  void calibrate_host() {
    if (copying_cpus_.empty()) return;
    auto& fastest = result_.machine["hosts"][0]["memory_copy"];
    fastest = faster_copies(fastest, measure_copies(copying_cpus_));
  }

  /// One for each rank of this host, as far as there are so many.
  std::vector<int> cpus_of(const Group& group) const {
    const auto ranks = static_cast<std::size_t>(local_ranks(group));
    auto cpus = allowed_cpus();
    if (!group.setup.cpus.empty() && !group.setup.cpus.front().empty()) {
      cpus.clear();
      for (const auto& own : group.setup.cpus) {
        if (!own.empty() && std::ranges::find(cpus, own.front()) == cpus.end()) {
          cpus.push_back(own.front());
        }
      }
    }
    cpus.resize(std::min(cpus.size(), ranks));
    return cpus;
  }

  void run_round(const std::vector<std::size_t>& order, int launch) {
    if (setup_.canary) measure_canary(result_, launch);
    calibrate_host();
    for (const auto index : order) {
      if (!ended_ && can_start(index)) run_one(index, launch);
    }
  }

  void run_one(std::size_t index, int launch) {
    const auto begin = std::chrono::steady_clock::now();
    if (!begin_) begin_ = begin;
    launch_group(groups_[index], launch, launches_[index]);
    last_launch_[index] = std::chrono::steady_clock::now() - begin;
    ++launches_[index];
  }

  /// Of the first two ranks of this host.
  std::optional<Processors> processors_of(const Group& group) const {
    if (group.setup.cpus.empty() || group.setup.cpus.front().empty()) return std::nullopt;
    const auto cpus = cpus_of(group);
    return cpus.size() < 2 ? std::nullopt : look_at_processors(cpus[0], cpus[1]);
  }

  void take_processors(const Group& group, int launch,
                       const std::array<std::optional<Processors>, 2>& seen) {
    for (const auto index : group.cases) {
      for (auto& record : result_.cases[index].launches) {
        if (record.launch == launch) record.processors = seen;
      }
    }
  }

  void launch_group(Group& group, int launch, int earlier_launches) {
    observer_.launch_begins(group, launch, setup_.launches);
    const auto settings = settings_of(group);
    const int local = local_ranks(group);
    Json plan = {{"benchmark", group.setup.benchmark},
                 {"launch", launch},
                 {"set", group.set.members()},
                 {"asked", rank_environment({}, settings, group.setup.ucx).asked},
                 {"crowded", static_cast<std::size_t>(local) > allowed_cpus().size()},
                 {"cases", Json::array()}};
    for (const auto index : group.cases) {
      plan["cases"].push_back({{"index", index}, {"parameters", result_.cases[index].parameters}});
    }
    LaunchSpec spec;
    for (int rank = 0; rank < local; ++rank) {
      const auto at = static_cast<std::size_t>(rank);
      auto own = settings;
      if (at < group.net_devices.size()) own["UCX_NET_DEVICES"] = group.net_devices[at];
      spec.ranks.push_back(
          rank_command(own, group.setup.ucx, group.setup.wrap,
                       at < group.setup.cpus.size() ? group.setup.cpus[at] : std::vector<int>{}));
    }
    spec.remote = {{"set", fmt::format("{}", fmt::join(group.set.members(), ","))},
                   {"settings", settings},
                   {"ucx", group.setup.ucx}};
    spec.preset["plan"] = to_bytes(plan);
    spec.on_report = [&](int, const std::string& key, const Hub::Bytes& value) {
      if (key.starts_with("report/transfers/")) return take_transfers(value);
      take_report(group, key, from_bytes(value));
    };
    spec.on_warning = [&](int rank, const std::string& line) {
      add_ucx_warning(result_.ucx, rank, line);
    };
    spec.timeout = group.setup.timeout;
    const auto before = processors_of(group);
    const auto outcome = run_launch(spec, signals_, setup_.remote);
    take_processors(group, launch, {before, processors_of(group)});
    judge(group, lost_since(outcome, group, earlier_launches));
  }

  void take_report(const Group& group, const std::string& key, Json report) {
    if (report.contains("boot_id")) {
      report["host"] = hosts_.told_apart(report.at("host").get<std::string>(),
                                         report.at("boot_id").get<std::string>());
      report.erase("boot_id");
    }
    if (key.starts_with("report/rank/")) {
      take_rank(group, report);
    } else if (key.starts_with("report/protocols/")) {
      take_protocols(group, report);
    } else if (key.starts_with("report/errors/")) {
      add_error_counters(result_.machine, report);
    } else {
      take_case(group, report);
    }
    write();
  }

  void take_transfers(const Hub::Bytes& sections) {
    file_.append_transfers(sections);
    result_.run["transfers"] = transfers_file(setup_.output).filename().string();
  }

  void take_rank(const Group& group, Json facts) {
    const auto effective = facts.at("ucx_effective");
    facts.erase("ucx_effective");
    if (facts.contains("libraries")) {
      result_.ucx["libraries"].update(facts.at("libraries"));
      facts.erase("libraries");
    }
    const auto rank = facts.at("rank").get<int>();
    if (rank == 0) result_.ucx["environment"]["effective"][group.name()] = effective;
    const auto known = std::find_if(result_.ranks.begin(), result_.ranks.end(),
                                    [&](const Json& r) { return r.at("rank") == rank; });
    if (known != result_.ranks.end()) {
      *known = std::move(facts);
    } else {
      result_.ranks.push_back(std::move(facts));
      std::sort(result_.ranks.begin(), result_.ranks.end(), [](const Json& a, const Json& b) {
        return a.at("rank").get<int>() < b.at("rank").get<int>();
      });
    }
  }

  void take_protocols(const Group& group, const Json& report) {
    auto& done = result_.cases.at(report.at("index").get<std::size_t>());
    for (auto& record : done.launches) {
      if (record.launch != report.at("launch") || record.src != report.at("src")) continue;
      for (const auto& row : report.at("protocols")) record.path["protocols"].push_back(row);
    }
    take_paths(done, group.set);
  }

  void take_case(const Group& group, const Json& report) {
    auto& done = result_.cases.at(report.at("index").get<std::size_t>());
    const auto launch = report.at("records").at(0).at("launch").get<int>();
    // Others of its pairs may have reported before.
    const bool first =
        std::ranges::find(done.launches, launch, &LaunchRecord::launch) == done.launches.end();
    done_ += first ? 1 : 0;
    exit_ = worse(exit_, add_case_report(done, group.set, report));
    observer_.case_done(done, done_, total_);
  }

  /// A set that ran before in this run and then cannot was lost.
  static LaunchOutcome lost_since(LaunchOutcome outcome, const Group& group, int good_launches) {
    if (outcome.exit != Exit::cannot_run || good_launches == 0) return outcome;
    outcome.exit = Exit::lost;
    outcome.reason = fmt::format("{} no longer runs{}, after {} launch{} of it: {}", group.name(),
                                 group.ranks == 2 ? " between ranks 0 and 1" : "", good_launches,
                                 good_launches == 1 ? "" : "es", outcome.reason);
    return outcome;
  }

  void judge(Group& group, const LaunchOutcome& outcome) {
    using State = LaunchOutcome::State;
    if (outcome.state == State::completed) return;
    if (outcome.state == State::failed && outcome.exit == Exit::cannot_run &&
        setup_.remote == nullptr) {
      // This set does not work here after all; the others may.
      group.unavailable = outcome.reason;
      skip(group, outcome.reason);
      return;
    }
    ended_ = true;
    exit_ = worse(exit_, outcome.exit);
    result_.run["state"] = outcome.state == State::interrupted ? "interrupted" : "failed";
    result_.run["reason"] = outcome.reason;
    if (outcome.state == State::interrupted) return;
    for (const auto index : group.cases) {
      auto& lost = result_.cases[index];
      if (lost.state != CaseState::planned) continue;
      lost.state = CaseState::failed;
      lost.reason = outcome.reason;
    }
  }

  void finish() {
    if (!ended_) result_.run["state"] = "complete";
    bool any = false;
    for (const auto& group : groups_) {
      for (const auto index : group.cases) {
        auto& planned = result_.cases[index];
        any |= planned.state != CaseState::skipped;
        if (planned.state != CaseState::planned) continue;
        planned.state = CaseState::skipped;
        planned.reason = ended_ || !setup_.max_time
                             ? "the run ended before it was measured"
                             : fmt::format("max_time, {}, was over before its first launch",
                                           format_duration(*setup_.max_time));
      }
    }
    if (!ended_ && setup_.max_time) note_left_out();
    if (!any && !ended_) exit_ = worse(exit_, Exit::cannot_run);
    result_.run["finished_utc"] = utc_now();
    add_limits(result_);
    result_.findings = findings_of(result_);
    write();
    result_.file = file_.file();
    if (!file_.at_its_place()) exit_ = worse(exit_, Exit::lost);
  }

  void note_left_out() {
    std::vector<std::string> fewer;
    for (std::size_t index = 0; index < groups_.size(); ++index) {
      if (!groups_[index].unavailable.empty() || launches_[index] == setup_.launches) continue;
      fewer.push_back(
          fmt::format("{} has {} of {}", groups_[index].name(), launches_[index], setup_.launches));
    }
    if (fewer.empty()) return;
    result_.run["left_out"] =
        fmt::format("{} did not suffice for all launches: {}", format_duration(*setup_.max_time),
                    fmt::join(fewer, "; "));
  }

  void write() { file_.write(to_text(to_json(result_))); }

  Result& result_;
  std::vector<Group> groups_;
  const RunSetup& setup_;
  Signals& signals_;
  RunObserver& observer_;
  RunFile file_;
  std::optional<std::chrono::steady_clock::time_point> begin_;  ///< of the first launch
  std::vector<std::chrono::nanoseconds> last_launch_;           ///< of each group; 0: none yet
  std::vector<int> launches_;                                   ///< of each group, so far
  HostNames hosts_{host_name(), boot_id()};
  std::vector<int> copying_cpus_;
  std::size_t done_ = 0;
  std::size_t total_ = 0;
  bool ended_ = false;
  Exit exit_ = Exit::done;
};

}  // namespace

Variables settings_of(const Group& group) {
  Variables settings;
  for (const auto& setting : group.settings) settings[setting.key] = setting.value;
  return settings;
}

Exit run_groups(Result& result, std::vector<Group> groups, const RunSetup& setup, Signals& signals,
                RunObserver& observer) {
  return Run(result, std::move(groups), setup, signals, observer).run();
}

RankCommand rank_command(const Variables& settings, const Variables& from_user,
                         const std::string& wrap, const std::vector<int>& cpus) {
  RankCommand command;
  command.argv = {own_program().string()};
  command.environment = rank_environment(current_environment(), settings, from_user).entries;
  command.wrap = wrap;
  command.cpus = cpus;
  return command;
}

}  // namespace ucxbench
