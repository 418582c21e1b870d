#include "harness/run/runner.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <numeric>
#include <set>
#include <utility>

#include "harness/core/ending.hpp"
#include "harness/core/units.hpp"
#include "harness/host/canary.hpp"
#include "harness/host/copies.hpp"
#include "harness/result/events.hpp"
#include "harness/result/ucx_of_ranks.hpp"
#include "harness/result/words.hpp"
#include "harness/run/duets.hpp"
#include "harness/run/host_speed.hpp"
#include "harness/run/provenance.hpp"
#include "harness/run/rank_plan.hpp"
#include "harness/run/rank_reports.hpp"
#include "harness/run/tournament.hpp"
#include "harness/run/wire.hpp"

namespace ucxbench {
namespace {

class Run {
 public:
  Run(Result& result, std::vector<LaunchPlan>& plans, const Schedule& schedule, RunFile& file,
      const Execute& execute, RunObserver& observer, Around around)
      : result_(result),
        plans_(plans),
        schedule_(schedule),
        file_(file),
        execute_(execute),
        observer_(observer),
        duet_(around.duet),
        elsewhere_(std::move(around.elsewhere)),
        reports_(result, file, std::move(around.hosts)),
        last_launch_(plans.size()),
        launches_(plans.size()) {}

  Exit run() {
    skip_unavailable();
    file_.begin(least_growth());
    if (duet_ != nullptr) duet_->begin();
    copying_ = copying_plan(plans_, result_);
    std::vector<std::size_t> order(plans_.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    for (int launch = 0; launch < schedule_.launches && !ended_; ++launch) {
      if (std::ranges::none_of(order, [&](auto index) { return can_start(index); })) break;
      if (schedule_.only_launch.value_or(launch) == launch) run_round(order, launch);
      std::reverse(order.begin(), order.end());
    }
    finish();
    if (duet_ != nullptr) duet_->end();
    return worse(exit_, reports_.exit());
  }

 private:
  void skip_unavailable() {
    for (const auto& plan : plans_) {
      if (!plan.unavailable.empty()) {
        skip(plan);
      } else {
        total_ += plan.cases.size();
      }
    }
    if (!schedule_.only_launch) total_ *= static_cast<std::size_t>(schedule_.launches);
  }

  /// Of the run file, in bytes: by what ranks say of themselves, and by a case's samples in a
  /// launch. Half of what a short run was seen to take.
  std::uint64_t least_growth() const {
    constexpr std::uint64_t of_ranks = 4096;
    constexpr std::uint64_t of_a_launch = 2048;
    std::uint64_t cases = 0;
    for (const auto& plan : plans_) cases += plan.unavailable.empty() ? plan.cases.size() : 0;
    const auto launches = schedule_.only_launch || schedule_.max_time ? 1 : schedule_.launches;
    return of_ranks + of_a_launch * cases * static_cast<std::uint64_t>(launches);
  }

  void skip(const LaunchPlan& plan) {
    auto skipped = plan.cases;
    std::erase_if(skipped, [&](auto index) { return !result_.cases[index].launches.empty(); });
    skip_cases(skipped, SkipCause::unavailable, plan.unavailable);
    observer_.cannot_run(plan);
    if (plan.strict) exit_ = worse(exit_, Exit::cannot_run);
  }

  bool can_start(std::size_t index) const {
    return plans_[index].unavailable.empty() && !lost_.contains(index) && has_time(index);
  }

  bool has_time(std::size_t index) const {
    return !schedule_.max_time || !begin_ ||
           std::chrono::steady_clock::now() - *begin_ + last_launch_[index] <= *schedule_.max_time;
  }

  /// Both sides of a duet meet the same host.
  bool all_duets() const {
    return duet_ != nullptr && std::ranges::all_of(plans_, [this](const LaunchPlan& plan) {
             return duet_offer(plan, result_) != 0;
           });
  }

  void run_round(const std::vector<std::size_t>& order, int launch) {
    if (schedule_.canary && !all_duets()) {
      for (const auto& event : measure_canary(launch)) file_.add(event);
    }
    if (copying_ != nullptr) measure_copying();
    for (const auto index : order) {
      if (ended_ || !can_start(index)) continue;
      while (run_plan(index, launch)) {
      }
    }
  }

  void measure_copying() {
    if (elsewhere_) elsewhere_->begin(*copying_, Elsewhere::What::memory_copy);
    const auto own = measure_copies(cpus_for_copies(copying_->launch.ranks));
    file_.add(memory_copy_event(result_, text_at(result_.machine, "/hosts/0/name"), own));
    if (!elsewhere_) return;
    for (const auto& [host, copies] : elsewhere_->end()) {
      file_.add(memory_copy_event(result_, host, copies));
    }
  }

  /// Whether there is more of this launch to play.
  bool run_plan(std::size_t index, int launch) {
    auto& plan = plans_[index];
    const auto begin = std::chrono::steady_clock::now();
    if (!begin_) begin_ = begin;
    observer_.launch_begins(plan, launch, schedule_.launches);
    const auto before = look_at_processors(plan, true);
    std::optional<DuetSupervisor::Terms> duet;
    if (duet_ != nullptr) duet = begin_duet(plan);
    reports_.begin_launch();
    auto outcome = execute_(launch_of(plan, launch, duet));
    note_ucx(outcome);
    if (duet) duet_->end_launch();
    const bool completed = outcome.state == LaunchOutcome::State::completed;
    if (completed) file_.add(reports_.launch_time(plan, launch));
    note_processors(plan, launch, before, look_at_processors(plan, completed));
    note_clocks(plan, launch, outcome.clocks);
    const bool goes_on = schedule_.goes_on && !outcome.unreached.empty();
    if (goes_on) {
      note_lost(plan, launch, outcome);
      lost_.insert(index);
    } else {
      judge(plan, lost_since(outcome, plan, launches_[index]));
    }
    last_launch_[index] = std::chrono::steady_clock::now() - begin;
    ++launches_[index];
    return goes_on && !ended_ && has_time(index) && play_on(plan, launch);
  }

  void note_ucx(LaunchOutcome& outcome) {
    const Json ucx = {{"versions", reports_.ucx_versions()}};
    const auto several = several_versions(ucx);
    if (several.empty()) return;
    file_.add({{"ucx_versions", ucx.at("versions")}});
    if (outcome.state != LaunchOutcome::State::failed) return;
    outcome.reason += fmt::format(
        "; ranks have UCX {}, which may not understand each other: give all of them one version",
        several);
  }

  void note_lost(const LaunchPlan& plan, int launch, const LaunchOutcome& outcome) {
    auto keys = Json::array();
    for (const auto index : plan.cases) keys.push_back(result_.cases[index].key);
    const auto reason = outcome.reason + where_stacks_are(outcome);
    file_.add({{"lost_launch",
                {{"launch", launch},
                 {"cases", std::move(keys)},
                 {"ranks", with_partner(plan, launch, outcome.unreached)},
                 {"reason", reason}}}});
    fails_as(reason);
    if (lost_.empty()) file_.add({{"run", {{"state", "failed"}, {"reason", reason}}}});
    fail_cases(still_planned(plan.cases), reason);
    ended_ = outcome.host_lost;
  }

  /// The turn that was lost, where ranks met in turns.
  std::optional<std::size_t> lost_turn(const LaunchPlan& plan, int launch) const {
    std::set<std::pair<int, int>> met;
    for (const auto index : plan.cases) {
      const auto& of = result_.cases[index];
      if (text_at(of.parameters, "/pairs", "") != "every") return std::nullopt;
      for (const auto& record : of.launches) {
        if (record.launch == launch) met.insert(std::minmax(record.src, record.dst));
      }
    }
    return first_open_turn(plan.ranks, plan.first_turn, met);
  }

  /// With whom the only one of them was to meet: of two that do not reach each other, one may have
  /// gone on.
  std::vector<int> with_partner(const LaunchPlan& plan, int launch, std::vector<int> ranks) const {
    const auto lost = lost_turn(plan, launch);
    if (!lost || ranks.size() != 1) return ranks;
    const auto partner = tournament(plan.ranks, ranks.front()).at(*lost).partner;
    if (partner < plan.ranks) ranks.push_back(partner);
    return ranks;
  }

  bool play_on(LaunchPlan& plan, int launch) const {
    const auto lost = lost_turn(plan, launch);
    if (!lost) return false;
    plan.first_turn = *lost + 1;
    return plan.first_turn + 1 < static_cast<std::size_t>(plan.ranks);
  }

  std::optional<DuetSupervisor::Terms> begin_duet(const LaunchPlan& plan) {
    const auto offer = duet_offer(plan, result_);
    auto terms = duet_->begin_launch(offer);
    if (offer != 0 && !terms && !duet_->alone()) {
      file_.add({{"in_turns", {{"cases", plan.cases}, {"why", other_side_differs}}}});
    }
    return terms;
  }

  Launch launch_of(const LaunchPlan& plan, int number,
                   const std::optional<DuetSupervisor::Terms>& duet) {
    Json told = {{"benchmark", plan.benchmark}, {"launch", number},
                 {"set", plan.set.members()},   {"asked", plan.asked},
                 {"crowded", plan.crowded},     {"first_turn", plan.first_turn},
                 {"cases", Json::array()}};
    for (const auto index : plan.cases) {
      told["cases"].push_back(
          {{"index", index},
           {"parameters", parameters_for_ranks(plan.benchmark, result_.cases[index].parameters)}});
    }
    auto launch = plan.launch;
    if (duet) {
      told["duet"] = {{"number", duet->number}, {"limit_ms", plan.launch.timeout.count()}};
      for (auto& rank : launch.ranks) {
        rank.environment.push_back(fmt::format("{}={}", duet_variable, duet->option));
      }
    }
    launch.find = [this, &plan](const std::string& key) { return data_of(result_, plan, key); };
    launch.preset["plan"] = to_bytes(told);
    launch.on_report = [&](int, const std::string& key, const Hub::Bytes& value) {
      if (const auto* measured = reports_.take(plan, key, value)) {
        observer_.case_done(*measured, ++done_, total_);
      }
    };
    launch.on_bad_end = [&](const std::string& how) {
      bad_ends_.push_back(how);
      file_.add({{"run", {{"bad_ends", bad_ends_}}}});
    };
    launch.on_warning = [&](int rank, const std::string& line) {
      file_.add({{"warning", {{"rank", rank}, {"line", line}}}});
    };
    return launch;
  }

  /// At one moment.
  struct ProcessorsOfHosts {
    std::optional<Processors> own;
    std::map<std::string, std::optional<Processors>> others;
  };

  /// A host that was lost is not to be waited for: `all` is false then.
  ProcessorsOfHosts look_at_processors(const LaunchPlan& plan, bool all) {
    all = all && elsewhere_ && is_bound(plan);
    if (all) elsewhere_->begin(plan, Elsewhere::What::processors);
    ProcessorsOfHosts seen{.own = processors_of(plan.launch.ranks), .others = {}};
    if (!all) return seen;
    for (const auto& [host, answer] : elsewhere_->end()) {
      seen.others[host] = processors_from_answer(answer);
    }
    return seen;
  }

  void note_processors(const LaunchPlan& plan, int launch, const ProcessorsOfHosts& before,
                       const ProcessorsOfHosts& after) {
    auto elsewhere = Json::object();
    for (const auto& [host, seen] : before.others) {
      const auto same = after.others.find(host);
      const SeenProcessors both = {seen, same == after.others.end() ? std::nullopt : same->second};
      if (both[0] || both[1]) elsewhere[host] = processors_to_json(both);
    }
    if (!before.own && !after.own && elsewhere.empty()) return;
    file_.add({{"processors",
                {{"launch", launch},
                 {"cases", plan.cases},
                 {"seen", processors_to_json({before.own, after.own})},
                 {"elsewhere", std::move(elsewhere)}}}});
  }

  static Json clock_json(const std::optional<ClockOffset>& seen) {
    if (!seen) return nullptr;
    return {{"at_ns", seen->at_ns},
            {"offset_ns", seen->offset_ns},
            {"uncertainty_ns", seen->uncertainty_ns}};
  }

  // Several supervisors of one host have one clock.
  void note_clocks(const LaunchPlan& plan, int launch, const std::vector<HostClock>& clocks) {
    std::set<std::string> known = {text_at(result_.machine, "/hosts/0/name", "")};
    for (const auto& [host, before, after] : clocks) {
      if ((!before && !after) || !known.insert(host).second) continue;
      file_.add({{"clock",
                  {{"launch", launch},
                   {"cases", plan.cases},
                   {"host", host},
                   {"begin", clock_json(before)},
                   {"end", clock_json(after)}}}});
    }
  }

  void fail_cases(const std::vector<std::size_t>& cases, const std::string& reason) {
    if (cases.empty()) return;
    file_.add({{"state",
                {{"cases", cases}, {"state", to_string(CaseState::failed)}, {"reason", reason}}}});
  }

  void skip_cases(const std::vector<std::size_t>& cases, SkipCause cause,
                  const std::string& reason) {
    if (cases.empty()) return;
    file_.add({{"state",
                {{"cases", cases},
                 {"state", to_string(CaseState::skipped)},
                 {"skip_cause", name_of(skip_causes, cause)},
                 {"reason", reason}}}});
  }

  /// Those that no launch has measured or skipped.
  std::vector<std::size_t> still_planned(std::vector<std::size_t> cases) const {
    std::erase_if(cases,
                  [&](auto index) { return result_.cases[index].state != CaseState::planned; });
    return cases;
  }

  /// A set that ran before in this run and then cannot was lost.
  static LaunchOutcome lost_since(LaunchOutcome outcome, const LaunchPlan& plan,
                                  int good_launches) {
    if (outcome.exit != Exit::cannot_run || good_launches == 0) return outcome;
    outcome.exit = Exit::lost;
    outcome.reason = fmt::format("{} no longer runs{}, after {} launch{} of it: {}", plan.name,
                                 plan.ranks == 2 ? " between ranks 0 and 1" : "", good_launches,
                                 good_launches == 1 ? "" : "es", outcome.reason);
    return outcome;
  }

  void judge(LaunchPlan& plan, const LaunchOutcome& outcome) {
    using State = LaunchOutcome::State;
    if (outcome.state == State::completed) return;
    if (outcome.state == State::failed && outcome.exit == Exit::cannot_run) {
      // This set does not work here after all; the others may.
      plan.unavailable = outcome.reason;
      skip(plan);
      return;
    }
    ended_ = true;
    exit_ = worse(exit_, outcome.exit);
    const bool interrupted = outcome.state == State::interrupted;
    const auto reason = outcome.reason + where_stacks_are(outcome);
    file_.add({{"run", {{"state", interrupted ? "interrupted" : "failed"}, {"reason", reason}}}});
    if (interrupted) return;
    fails_as(reason);
    fail_cases(still_planned(plan.cases), reason);
  }

  std::string where_stacks_are(const LaunchOutcome& outcome) {
    if (outcome.stacks.empty()) return "";
    const auto file = file_.put_stacks(outcome.stacks);
    return file.empty() ? "" : fmt::format("; what it was doing is in '{}'", file.string());
  }

  void finish() {
    if (!ended_ && lost_.empty()) file_.add({{"run", {{"state", "complete"}}}});
    bool any = false;
    std::vector<std::size_t> left;
    for (const auto& plan : plans_) {
      for (const auto index : plan.cases) any |= result_.cases[index].state != CaseState::skipped;
      std::ranges::copy(still_planned(plan.cases), std::back_inserter(left));
    }
    if (ended_ || !lost_.empty() || !schedule_.max_time) {
      skip_cases(left, SkipCause::run_ended, "the run ended before it was measured");
    } else {
      skip_cases(left, SkipCause::no_time,
                 fmt::format("max_time, {}, was over before its first launch",
                             format_duration(*schedule_.max_time)));
    }
    if (!ended_ && schedule_.max_time) note_left_out();
    if (!any && !ended_) exit_ = worse(exit_, Exit::cannot_run);
    file_.add({{"run", {{"finished_utc", utc_now()}}}});
    file_.begin_text();
    sum_up(result_);
  }

  void note_left_out() {
    std::vector<std::string> fewer;
    for (std::size_t index = 0; index < plans_.size(); ++index) {
      if (!plans_[index].unavailable.empty() || lost_.contains(index) ||
          launches_[index] == schedule_.launches) {
        continue;
      }
      fewer.push_back(
          fmt::format("{} has {} of {}", plans_[index].name, launches_[index], schedule_.launches));
    }
    if (fewer.empty()) return;
    const auto left_out = fmt::format("{} was too short for all launches: {}",
                                      format_duration(*schedule_.max_time), fmt::join(fewer, "; "));
    file_.add({{"run", {{"left_out", left_out}}}});
  }

  Result& result_;  ///< added to by `file_` alone
  std::vector<LaunchPlan>& plans_;
  const Schedule& schedule_;
  RunFile& file_;
  const Execute& execute_;
  RunObserver& observer_;
  DuetSupervisor* duet_;
  std::optional<Elsewhere> elsewhere_;
  RankReports reports_;
  std::optional<std::chrono::steady_clock::time_point> begin_;  ///< of the first launch
  std::vector<std::chrono::nanoseconds> last_launch_;           ///< of each plan; 0: none yet
  std::vector<int> launches_;                                   ///< of each plan, so far
  const LaunchPlan* copying_ = nullptr;  ///< of `plans_`; null: no ranks share memory
  std::vector<std::string> bad_ends_;
  std::size_t done_ = 0;
  std::size_t total_ = 0;
  std::set<std::size_t> lost_;  ///< plans, where the run goes on
  bool ended_ = false;
  Exit exit_ = Exit::done;
};

}  // namespace

Exit measure(Result& result, std::vector<LaunchPlan>& plans, const Schedule& schedule,
             RunFile& file, const Execute& execute, RunObserver& observer, Around around) {
  return Run(result, plans, schedule, file, execute, observer, std::move(around)).run();
}

}  // namespace ucxbench
