#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <memory>
#include <utility>

#include "bench/cli/commands/ab_run.hpp"
#include "bench/cli/commands/commands.hpp"
#include "bench/cli/commands/tune_state.hpp"
#include "bench/cli/commands/work_folder.hpp"
#include "bench/cli/options/help.hpp"
#include "bench/cli/options/outputs.hpp"
#include "bench/cli/options/tune_options.hpp"
#include "bench/cli/plan/estimate.hpp"
#include "bench/cli/plan/plan_of_args.hpp"
#include "bench/cli/plan/suite_file.hpp"
#include "bench/cli/plan/suite_plan.hpp"
#include "bench/cli/plan/tune_cases.hpp"
#include "bench/cli/plan/tune_search.hpp"
#include "harness/core/files.hpp"
#include "harness/core/of_option.hpp"
#include "harness/core/print.hpp"
#include "harness/core/units.hpp"
#include "harness/report/comparison_view.hpp"
#include "harness/report/settings_text.hpp"
#include "harness/result/cases.hpp"
#include "harness/result/words.hpp"
#include "harness/run/benchmark.hpp"
#include "harness/run/probe.hpp"
#include "harness/run/provenance.hpp"
#include "harness/topology/cpus.hpp"
#include "harness/transports/known_settings.hpp"
#include "harness/transports/tunables.hpp"

namespace ucxbench {
namespace {

namespace fs = std::filesystem;

/// The time of each case in one launch, where the benchmark has --max-time: enough for five quads
/// of duets.
constexpr std::chrono::milliseconds time_of_case{50};
constexpr int launches_of_confirmation = 24;
constexpr int trials_before_refusal = 3;
constexpr std::chrono::seconds shortest_confirmation{2};  // programs start, and say what they have
constexpr double least_share_of_confirmation = 0.3;       // of all time
constexpr double most_share_of_confirmation = 0.6;

std::string roughly(AbClock::duration time) {
  return rough_time(std::chrono::duration<double>(time).count());
}

// A run's own reason may be the other side's.
std::string why_not_measured(const AbSide& side) {
  if (!side.result) return "see above";
  const auto& cases = side.result->cases;
  const auto failed = std::ranges::find(cases, CaseState::failed, &Case::state);
  if (failed != cases.end()) return failed->reason;
  return text_at(side.result->run, "/reason", "the run ended early");
}

class TuneRun final : public Trials {
 public:
  TuneRun(const TuneOptions& options, std::string args, const GlobalOptions& global)
      : options_(options), global_(global), inner_(global), args_(std::move(args)) {
    inner_.quiet = true;
    inner_.dry_run = false;
    const auto plan = of_option("tune", [&] { return plan_of_args(args_, 1); });
    for (const auto& set : plan.sets) {
      transports_.insert(transports_.end(), set.members().begin(), set.members().end());
    }
    if (plan.ablate) transports_ = {"auto"};
    confirmed_ = {args_ + (has_cold_buffers(plan, args_) ? with_cold_buffers : "")};
    auto ucx = plan.ucx;
    if (!options.suite.empty()) {
      for (const auto& of : plan_suite(options.suite).plans)
        ucx.insert(of.ucx.begin(), of.ucx.end());
      for (const auto& of : read_suite(options.suite).cases) confirmed_.push_back(of.args);
    }
    has_time_ = find_benchmark(plan.benchmark)->parameters.find("max-time") != nullptr;
    whole_ = of_option("--max-time", [&] { return parse_duration(options.max_time); });
    for (const auto& file : options.outputs) {
      settings_format_of(file);
      check_outputs({{"output", file}});
    }
    candidates_ =
        options.tried.empty() ? tuning_candidates(ucx_, transports_) : tried_instead(options.tried);
    leave_out_unknown(options.tried.empty());
    // Settings given by --ucx stay as they are.
    std::erase_if(candidates_, [&](const Variables& settings) {
      return std::ranges::any_of(settings, [&](const auto& of) { return ucx.contains(of.first); });
    });
  }

  Exit run() {
    work_.emplace(global_.dry_run ? fs::temp_directory_path()
                                  : new_run_file(options_.folder, "tune").parent_path());
    if (!candidates_.empty()) leave_out_unused();
    if (global_.dry_run) return dry_run();
    const auto state_file = options_.outputs.empty() || options_.outputs.front() == "-"
                                ? fs::path()
                                : fs::path(options_.outputs.front() + ".tune.json");
    state_.emplace(state_file, args_, ucx_, machine_id(describe_host()));
    if (state_->trials() > 0) {
      say(fmt::format("{} already measured, in {}", counted(state_->trials(), "setting"),
                      state_file.string()));
    }
    if (candidates_.empty()) {
      return nothing("there is no setting that UCX uses in these cases and --ucx leaves open");
    }
    plan_confirmation();
    const auto found = search_settings(candidates_, *this);
    if (signals_.stop()) throw Failure(Exit::interrupted, signals_.reason());
    say(fmt::format("tried {} of {} settings in {}{}", found.tried, candidates_.size(),
                    roughly(AbClock::now() - begin_),
                    found.cut_short ? "; the time for the search is used up" : ""));
    if (found.settings.empty()) return nothing_found(found);
    return confirm(found);
  }

  Trial measure(const Variables& settings, int launches) override {
    auto trial = state_->trial(settings);
    const auto known = launches_of(trial);
    if (!trial.problem.empty() || known >= launches) return trial;
    auto more = launches - known;
    if (launched_ > 0) {
      const auto fit = static_cast<int>(time_for_search() / of_launch());
      more = std::clamp(fit, 1, more);
    }
    const auto begin = AbClock::now();
    auto [base, now, exit] =
        launch({args_}, settings, {.launches = more, .may_be_equal = true}, trial_files());
    if (exit == Exit::done && base.result && now.result) {
      spent_ += AbClock::now() - begin;
      launched_ += more;
      ++measured_;
      add_gains(*base.result, *now.result, trial);
    } else {
      if (launched_ == 0 && !has_measured(base)) check_default(settings);
      trial.problem = why_not_measured(now);
    }
    if (trial.problem.empty() && trial.gains.empty()) trial.problem = why_not_measured(now);
    say(trial.problem.empty()
            ? fmt::format("{}: {} (mean of {})", settings_in_words(settings),
                          speed_in_words(std::exp(trial.score())),
                          counted(trial.gains.size(), "row"))
            : fmt::format("{}: left out: {}", settings_in_words(settings), trial.problem));
    state_->keep(settings, trial);
    check_time();
    return trial;
  }

  bool is_over() override { return signals_.stop() || time_for_search() < of_launch(); }

 private:
  struct Launched {
    AbSide base, now;
    Exit exit;
  };

  static bool is_measured(const Case& of) {
    return !is_canary(of) && of.state == CaseState::measured;
  }

  static bool has_measured(const AbSide& side) {
    return side.result && std::ranges::any_of(side.result->cases, is_measured);
  }

  // The side of a duet that is left alone ends, too. In turns the default is measured first, alone.
  void check_default(const Variables& settings) {
    if (default_runs_) return;
    const auto alone = launch({args_}, settings, {.launches = 1, .may_be_equal = true},
                              trial_files(), AbMethod::turns)
                           .base;
    default_runs_ = has_measured(alone);
    if (default_runs_) return;
    throw Failure(Exit::cannot_run, "the default cannot be measured: " + why_not_measured(alone));
  }

  // A gain could not be theirs. Throws Failure(Exit::usage) unless the settings are our own choice.
  void leave_out_unknown(bool own_choice) {
    std::vector<std::pair<std::string, std::string>> values;
    for (const auto& settings : candidates_) {
      values.insert(values.end(), settings.begin(), settings.end());
    }
    const auto unreadable = probe({.values = std::move(values)}).unreadable;
    std::erase_if(candidates_, [&](const Variables& settings) {
      for (const auto& [name, value] : settings) {
        auto why = why_unknown_setting(name, found_.settings, found_.version);
        for (const auto& of : unreadable) {
          if (of.name == name && of.value == value) why = of.why;
        }
        if (why.empty()) continue;
        if (own_choice) return true;
        throw Failure(Exit::usage, fmt::format("--try {}={}: {}", name, value, why));
      }
      return false;
    });
  }

  // Of a candidate, what changes nothing in these cases: no gain is by it.
  void leave_out_unused() {
    auto [base, now] = sides_of({});
    AbRun(write_suite({args_}, 1), {.launches = 1, .may_be_equal = true}, AbMethod::automatic,
          inner_)
        .ask(base, now, signals_);
    std::vector<Variables> used;
    for (auto& settings : candidates_) {
      now.added = settings;
      for (const auto& name : find_unused(now, signals_)) {
        say(fmt::format("{}={}: left out: UCX does not use it in these cases", name,
                        settings.at(name)));
        settings.erase(name);
      }
      const bool is_new = std::ranges::find(used, settings) == used.end();
      if (!settings.empty() && is_new) used.push_back(std::move(settings));
    }
    candidates_ = std::move(used);
  }

  static int launches_of(const Trial& trial) {
    std::size_t most = 0;
    for (const auto& [row, gains] : trial.gains) most = std::max(most, gains.size());
    return static_cast<int>(most);
  }

  void say(const std::string& line) const {
    if (!global_.quiet) print_to(stderr, "{}\n", line);
  }

  // Of both sides; 0 where none was measured.
  AbClock::duration of_launch() const {
    return launched_ > 0 ? spent_ / launched_ : AbClock::duration::zero();
  }

  AbClock::duration time_left() const { return whole_ - (AbClock::now() - begin_); }

  // Of both sides, in the confirmation.
  AbClock::duration of_confirming_launch() const {
    return std::chrono::duration_cast<AbClock::duration>(of_launch() * more_cases_);
  }

  AbClock::duration time_for_search() const {
    const auto share = [this](double part) {
      return std::chrono::duration_cast<AbClock::duration>(part * whole_);
    };
    return time_left() - std::clamp(needed_ * of_confirming_launch() * 6 / 5,
                                    share(least_share_of_confirmation),
                                    share(most_share_of_confirmation));
  }

  // What can be known to fail fails before the search.
  void plan_confirmation() {
    const auto searched = plan_suite(write_suite({args_}, 1)).cases;
    const auto suite = write_suite(confirmed_, launches_of_confirmation);
    const auto planned = plan_suite(suite);
    needed_ = planned.needed_duets;
    more_cases_ = static_cast<double>(planned.cases) /
                  static_cast<double>(std::max<std::size_t>(searched, 1));
    if (options_.suite.empty() || candidates_.empty()) return;
    auto [base, now] = sides_of(candidates_.front());
    AbRun(suite, {.launches = needed_, .may_be_equal = true}, AbMethod::automatic, inner_)
        .ask(base, now, signals_);
  }

  // After some: a single one may be slow by chance.
  void check_time() const {
    if (measured_ != trials_before_refusal || needed_ * of_confirming_launch() < whole_ * 4 / 5) {
      return;
    }
    throw Failure(Exit::usage,
                  fmt::format("--max-time {}: a verdict needs {} pairs of launches, and a pair "
                              "takes {}; give at least {}, or fewer cases",
                              options_.max_time, needed_, roughly(of_confirming_launch()),
                              roughly(2 * needed_ * of_confirming_launch())));
  }

  std::string write_suite(const std::vector<std::string>& cases, int launches) const {
    const auto time = has_time_ ? std::optional(time_of_case) : std::nullopt;
    const auto file = work_->path() / "suite.toml";
    std::ofstream(file) << suite_text(cases, launches, time);
    return file.string();
  }

  static std::pair<AbSide, AbSide> sides_of(const Variables& settings) {
    const auto program = own_program().string();
    return {AbSide{.name = "base", .program = program, .added = {}},
            AbSide{.name = "new", .program = program, .added = settings}};
  }

  static TuneState::RunFiles files_named(const fs::path& file) {
    const auto begin = (file.parent_path() / file.stem()).string();
    return {begin + "-base.json", begin + "-new.json"};
  }

  TuneState::RunFiles trial_files() {
    return files_named(work_->path() / fmt::format("trial-{}", ++trials_begun_));
  }

  // Goes on with what is in the files.
  Launched launch(const std::vector<std::string>& cases, const Variables& settings,
                  const AbExtent& extent, const TuneState::RunFiles& files,
                  AbMethod method = AbMethod::automatic) {
    auto [base, now] = sides_of(settings);
    base.file = files.base;
    now.file = files.now;
    AbRun run(write_suite(cases, extent.launches), extent, method, inner_);
    run.ask(base, now, signals_);
    if (const auto known = run.resume(base, now); known > 0) {
      say(fmt::format("{} of {} of each side are already measured", known,
                      counted(static_cast<std::size_t>(extent.launches), "launch", "launches")));
    }
    const auto exit = run.measure(base, now, signals_);
    if (signals_.stop()) throw Failure(Exit::interrupted, signals_.reason());
    return {std::move(base), std::move(now), exit};
  }

  Exit dry_run() const {
    print_to(stdout, "UCX {}: {} to compare with the default, in at most {}\n", ucx_,
             counted(candidates_.size(), "setting"), roughly(whole_));
    for (const auto& settings : candidates_)
      print_to(stdout, "  {}\n", settings_in_words(settings));
    return Exit::done;
  }

  // Of settings that nobody measured nobody knows that they are no faster.
  Exit nothing_found(const Tuned& found) const {
    const auto measured = found.tried - found.unmeasured;
    const auto left_out = found.unmeasured == 0
                              ? ""
                              : fmt::format("; {} could not be measured, the first is {}",
                                            found.unmeasured, found.problem);
    if (measured > 0 && !found.cut_short) {
      return nothing("no setting was faster than the default" + left_out);
    }
    if (measured > 0) {
      return nothing(
          fmt::format("none of the {} that there was time for was faster than the "
                      "default; give more --max-time{}",
                      counted(measured, "setting"), left_out));
    }
    throw Failure(found.cut_short ? Exit::inconclusive : Exit::cannot_run,
                  fmt::format("nothing written: no setting was measured{}{}", left_out,
                              found.cut_short ? "; give more --max-time" : ""));
  }

  Exit nothing(const std::string& why) const {
    print_to(stdout, "nothing written: {}\n", why);
    return Exit::done;
  }

  // One that ended for lack of time is measured again where there is more.
  static bool is_whole(const TuneState::RunFiles& files) {
    return std::ranges::all_of(std::array{files.base, files.now}, [](const fs::path& file) {
      const auto run = read_result(file).run;
      return text_at(run, "/state", "") == "complete" && !run.contains("left_out");
    });
  }

  // With launches that the search has not seen.
  Exit confirm(const Tuned& found) {
    const auto& settings = found.settings;
    Demands demands;
    demands.across_environments = true;
    auto files = state_->confirmation(settings, confirmed_);
    if (!files && time_left() < of_confirming_launch() + shortest_confirmation) {
      return write(settings, not_confirmed(0), {gain_of_search(found)});
    }
    if (!files || !is_whole(*files)) {
      say(fmt::format("confirming {} with fresh launches, in at most {}",
                      settings_in_words(settings), roughly(time_left())));
      if (!files) files = files_named(new_run_file(options_.folder, "tune"));
      state_->keep_confirmation(settings, confirmed_, *files);
      auto launched = launch(confirmed_, settings,
                             {.launches = std::max(launches_of_confirmation, needed_),
                              .of_all = std::chrono::floor<std::chrono::seconds>(time_left()),
                              .demands = demands,
                              .may_be_equal = true},
                             *files);
      if (launched.exit != Exit::done || !launched.base.result || !launched.now.result) {
        return worse(launched.exit, nothing(settings_in_words(settings) + " did not finish"));
      }
      files = {launched.base.file, launched.now.file};
      state_->keep_confirmation(settings, confirmed_, *files);
    }
    const auto base = read_result(files->base);
    const auto now = read_result(files->now);
    return report(settings, *files, now, compare(base, now, demands));
  }

  Exit report(const Variables& settings, const TuneState::RunFiles& files, const Result& now,
              const Comparison& comparison) const {
    const auto verdict = verdict_on_settings(comparison);
    const auto fresh = launches_in(now);
    auto lines = in_words(verdict);
    if (!global_.quiet) {
      print_to(stdout, "{}", comparison_table(comparison, global_.verbose));
      print_to(stdout, "\n{}\n", settings_in_words(settings));
      for (const auto& line : lines) print_to(stdout, "  {}\n", line);
    }
    const bool unconfirmed = verdict.outcome == TuneOutcome::unconfirmed;
    if (unconfirmed && fresh >= static_cast<std::size_t>(needed_)) {
      return nothing("fresh launches neither confirmed nor refuted a gain; " +
                     nothing_decided(comparison));
    }
    if (const auto why = why_not_in_words(verdict, comparison); !why.empty()) return nothing(why);
    lines.insert(lines.begin(), fmt::format("{} compared with the default, in {} and {}:",
                                            counted(fresh, "fresh launch", "fresh launches"),
                                            files.base.string(), files.now.string()));
    return write(settings, unconfirmed ? not_confirmed(fresh) : "", std::move(lines));
  }

  // With what the search alone says.
  static std::string gain_of_search(const Tuned& found) {
    return fmt::format("the search's own launches, of which the luckiest settings were chosen: {}",
                       speed_in_words(std::exp(found.score)));
  }

  std::string not_confirmed(std::size_t launches) const {
    // As time_for_search divides it, and a half more.
    const auto enough = std::chrono::ceil<std::chrono::seconds>(
        std::max<AbClock::duration>(whole_, 2 * needed_ * of_confirming_launch()) * 3 / 2);
    return fmt::format("not confirmed: {} of {} fit into the time; add --max-time {}", launches,
                       counted(static_cast<std::size_t>(needed_), "duet"), format_duration(enough));
  }

  /// `remark`: what stands against them; empty of settings that are confirmed.
  Exit write(const Variables& settings, const std::string& remark,
             std::vector<std::string> lines) const {
    std::vector<std::string> comments = {
        fmt::format("ucx-bench tune {}", args_),
        fmt::format("UCX {}, machine {}, {}", ucx_, machine_id(describe_host()), utc_now())};
    if (!remark.empty()) comments.push_back(remark);
    std::ranges::move(lines, std::back_inserter(comments));
    comments.emplace_back(
        confirmed_.front() == args_
            ? "The memory of messages may have been in caches; where it is not, the gain may "
              "differ."
            : "buffers=cold: other memory for each message, in no cache; else the same again.");
    for (const auto& file : options_.outputs) {
      write_output(file, settings_file(settings_format_of(file), settings, comments));
      if (file != "-") say(fmt::format("wrote {}", file));
    }
    if (!remark.empty()) print_to(stdout, "{}\n", remark);
    return Exit::done;
  }

  static std::size_t launches_in(const Result& run) {
    std::size_t most = 0;
    for (const auto& of : run.cases) {
      if (is_measured(of)) most = std::max(most, of.launches.size());
    }
    return most;
  }

  const TuneOptions& options_;
  const GlobalOptions& global_;
  GlobalOptions inner_;
  std::string args_;  ///< the benchmark's
  UcxResources found_ = probe().ucx;
  std::string ucx_ = found_.version;
  Signals signals_;  // must follow found_: probe() starts a process
  AbClock::time_point begin_ = AbClock::now();
  AbClock::duration whole_{};
  AbClock::duration spent_{};  ///< for launches of both sides, `launched_`
  int launched_ = 0;
  int needed_ = 0;         ///< launches for a verdict
  double more_cases_ = 1;  ///< in the confirmation, for each of the search
  int measured_ = 0;       ///< pairs of runs
  int trials_begun_ = 0;
  bool default_runs_ = false;  ///< by itself, where no pair has run so far
  bool has_time_ = false;      ///< the benchmark has --max-time
  std::vector<std::string> transports_;
  std::vector<std::string> confirmed_;  ///< args of the cases of the confirmation
  std::vector<Variables> candidates_;
  std::optional<TuneState> state_;
  std::optional<WorkFolder> work_;
};

Exit run_tune(const CLI::App& command, TuneOptions& o, const GlobalOptions& global) {
  return TuneRun(o, command_line(benchmark_words(command, o)), global).run();
}

}  // namespace

AddedCommand add_tune(CLI::App& app) {
  auto* command = app.add_subcommand(
      "tune", "find UCX settings that make a benchmark faster, and confirm the gain");
  add_examples(*command, {"tune pingpong --transports tcp --sizes 8:16MiB:x8 -o tuned.env"});
  command->prefix_command();
  command->fallthrough(false);
  const auto options = std::make_shared<TuneOptions>();
  add_tune_options(*command, *options);
  return {command, [command, options](const GlobalOptions& global) {
            return run_tune(*command, *options, global);
          }};
}

}  // namespace ucxbench
