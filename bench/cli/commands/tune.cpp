#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <memory>
#include <utility>

#include "bench/cli/commands/ab_run.hpp"
#include "bench/cli/commands/commands.hpp"
#include "bench/cli/commands/tune_state.hpp"
#include "bench/cli/commands/work_folder.hpp"
#include "bench/cli/options/help.hpp"
#include "bench/cli/options/outputs.hpp"
#include "bench/cli/plan/estimate.hpp"
#include "bench/cli/plan/plan_of_args.hpp"
#include "bench/cli/plan/suite_plan.hpp"
#include "bench/cli/plan/tune_search.hpp"
#include "harness/core/files.hpp"
#include "harness/core/of_option.hpp"
#include "harness/core/text.hpp"
#include "harness/core/units.hpp"
#include "harness/report/comparison_view.hpp"
#include "harness/report/settings_text.hpp"
#include "harness/result/cases.hpp"
#include "harness/result/words.hpp"
#include "harness/run/benchmark.hpp"
#include "harness/run/probe.hpp"
#include "harness/run/provenance.hpp"
#include "harness/topology/cpus.hpp"
#include "harness/transports/tunables.hpp"

namespace ucxbench {
namespace {

namespace fs = std::filesystem;

struct TuneOptions {
  std::vector<std::string> outputs;
  std::vector<std::string> tried;
  std::string max_time = "5min";
  std::string folder;
};

void add_tune_options(CLI::App& command, TuneOptions& o) {
  command
      .add_option(
          "-o,--output", o.outputs,
          "for settings and evidence: NAME.env (shell), NAME.yaml (Dask) or ucx.conf (UCX); "
          "repeatable. Measurements are kept beside the first, in FILE.tune.json")
      ->type_name("FILE")
      ->allow_extra_args(false);
  command
      .add_option("--try", o.tried,
                  "try this instead of the built-in settings; repeatable. Commas join settings "
                  "that are set together")
      ->type_name("UCX_NAME=VALUE")
      ->allow_extra_args(false);
  command.add_option("--max-time", o.max_time, "time for search and confirmation together")
      ->type_name("TIME")
      ->capture_default_str();
  command
      .add_option("--folder", o.folder,
                  "directory of the confirmation's run files (default: ucx-bench-runs/)")
      ->type_name("FOLDER");
}

/// The time of each case in one launch, where the benchmark has --max-time: enough for five quads
/// of duets.
constexpr std::chrono::milliseconds time_of_case{50};
constexpr int launches_of_confirmation = 24;
constexpr int trials_before_refusal = 3;
constexpr double least_share_of_confirmation = 0.3;  // of all time

std::string settings_in_words(const Variables& settings) {
  std::vector<std::string> words;
  for (const auto& [name, value] : settings) words.push_back(fmt::format("{}={}", name, value));
  return fmt::format("{}", fmt::join(words, " "));
}

// "UCX_RNDV_THRESH=64k", "UCX_TCP_SNDBUF=1m,UCX_TCP_RCVBUF=1m".
std::vector<Variables> tried_instead(const std::vector<std::string>& tried) {
  std::vector<Variables> candidates;
  for (const auto& together : tried) {
    std::vector<std::string> parts;
    for (const auto part : split_text(together, ',')) parts.emplace_back(part);
    candidates.push_back(key_values("--try", parts, "UCX_"));
  }
  return candidates;
}

std::string roughly(AbClock::duration time) {
  return rough_time(std::chrono::duration<double>(time).count());
}

std::string why_not_measured(const Result& run) {
  const auto reason = text_at(run.run, "/reason", "");
  if (!reason.empty()) return reason;
  const auto failed = std::ranges::find_if(
      run.cases, [](const Case& of) { return of.state != CaseState::measured; });
  return failed == run.cases.end() ? "the run ended early" : failed->reason;
}

class TuneRun final : public Trials {
 public:
  TuneRun(const TuneOptions& options, const std::vector<std::string>& words,
          const GlobalOptions& global)
      : options_(options), global_(global), inner_(global), words_(words) {
    inner_.quiet = true;
    inner_.dry_run = false;
    const auto plan = of_option("tune", [&] { return plan_of_args(args(), 1); });
    for (const auto& set : plan.sets) {
      transports_.insert(transports_.end(), set.members().begin(), set.members().end());
    }
    if (plan.ablate) transports_ = {"auto"};
    has_time_ = find_benchmark(plan.benchmark)->parameters.find("max-time") != nullptr;
    whole_ = of_option("--max-time", [&] { return parse_duration(options.max_time); });
    for (const auto& file : options.outputs) {
      settings_format_of(file);
      check_outputs({{"output", file}});
    }
    candidates_ =
        options.tried.empty() ? tuning_candidates(ucx_, transports_) : tried_instead(options.tried);
    // Settings given by --ucx stay as they are.
    std::erase_if(candidates_, [&](const Variables& settings) {
      return std::ranges::any_of(settings,
                                 [&](const auto& of) { return plan.ucx.contains(of.first); });
    });
  }

  Exit run() {
    if (global_.dry_run) return dry_run();
    const auto state_file = options_.outputs.empty() || options_.outputs.front() == "-"
                                ? fs::path()
                                : fs::path(options_.outputs.front() + ".tune.json");
    state_.emplace(state_file, args(), ucx_, machine_id(describe_host()));
    if (state_->trials() > 0) {
      say(fmt::format("{} already measured, in {}", counted(state_->trials(), "setting"),
                      state_file.string()));
    }
    work_.emplace(new_run_file(options_.folder, "tune").parent_path());
    const auto found = search_settings(candidates_, *this);
    if (signals_.stop()) throw Failure(Exit::interrupted, signals_.reason());
    say(fmt::format("tried {} of {} settings in {}{}", found.tried, candidates_.size(),
                    roughly(AbClock::now() - begin_),
                    found.cut_short ? "; the time for the search is used up" : ""));
    if (found.settings.empty()) return nothing("no setting was faster than the default");
    return confirm(found.settings);
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
        launch(settings, {.launches = more}, work_->path(), fmt::format("trial-{}", ++measured_));
    if (signals_.stop()) throw Failure(Exit::interrupted, signals_.reason());
    if (exit == Exit::done && base.result && now.result) {
      spent_ += AbClock::now() - begin;
      launched_ += more;
      add_gains(*base.result, *now.result, trial);
    } else if (!base.result || std::ranges::none_of(base.result->cases, is_measured)) {
      throw Failure(Exit::cannot_run,
                    fmt::format("the default cannot be measured: {}",
                                base.result ? why_not_measured(*base.result) : "see above"));
    } else {
      trial.problem = now.result ? why_not_measured(*now.result) : "the run ended at once";
    }
    if (trial.problem.empty() && trial.gains.empty()) trial.problem = why_not_measured(*now.result);
    say(trial.problem.empty()
            ? fmt::format("{}: {} times as fast (mean of {})", settings_in_words(settings),
                          significant(std::exp(trial.score()), 3),
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

  static int launches_of(const Trial& trial) {
    std::size_t most = 0;
    for (const auto& [row, gains] : trial.gains) most = std::max(most, gains.size());
    return static_cast<int>(most);
  }

  void say(const std::string& line) const {
    if (!global_.quiet) fmt::print(stderr, "{}\n", line);
  }

  std::string args() const {
    std::vector<std::string> quoted;
    for (const auto& word : words_) {
      const bool plain = word.find_first_not_of(
                             "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
                             "-_=+:,./") == std::string::npos;
      quoted.push_back(plain && !word.empty() ? word : shell_quoted(word));
    }
    return fmt::format("{}", fmt::join(quoted, " "));
  }

  // Of both sides; 0 where none was measured.
  AbClock::duration of_launch() const {
    return launched_ > 0 ? spent_ / launched_ : AbClock::duration::zero();
  }

  AbClock::duration time_left() const { return whole_ - (AbClock::now() - begin_); }

  AbClock::duration time_for_search() const {
    const auto share =
        std::chrono::duration_cast<AbClock::duration>(least_share_of_confirmation * whole_);
    return time_left() - std::max(share, needed_ * of_launch() * 6 / 5);
  }

  // After some: a single one may be slow by chance.
  void check_time() {
    if (needed_ == 0) needed_ = plan_suite(suite_.string()).needed_duets;
    if (measured_ != trials_before_refusal || needed_ * of_launch() < whole_ * 4 / 5) return;
    throw Failure(Exit::usage,
                  fmt::format("--max-time {}: a verdict needs {} pairs of launches, and a pair "
                              "takes {}; give at least {}, or fewer cases",
                              options_.max_time, needed_, roughly(of_launch()),
                              roughly(2 * needed_ * of_launch())));
  }

  Launched launch(const Variables& settings, const AbExtent& extent, const fs::path& folder,
                  const std::string& name) {
    suite_ = work_->path() / "suite.toml";
    auto text = args();
    if (has_time_) {
      text += fmt::format(" --max-time {}ms", (time_of_case * extent.launches).count());
    }
    std::ofstream(suite_) << fmt::format("launches = {}\n[[case]]\nargs = {}\n", extent.launches,
                                         Json(text).dump());
    Launched launched{AbSide{.name = "base",
                             .program = own_program().string(),
                             .added = {},
                             .file = folder / (name + "-base.json")},
                      AbSide{.name = "new",
                             .program = own_program().string(),
                             .added = settings,
                             .file = folder / (name + "-new.json")},
                      Exit::done};
    AbRun run(suite_.string(), extent, AbMethod::automatic, inner_);
    run.ask(launched.base, launched.now, signals_);
    launched.exit = run.measure(launched.base, launched.now, signals_);
    return launched;
  }

  Exit dry_run() const {
    fmt::print("UCX {}: {} to compare with the default, in at most {}\n", ucx_,
               counted(candidates_.size(), "setting"), format_duration(whole_));
    for (const auto& settings : candidates_) fmt::print("  {}\n", settings_in_words(settings));
    return Exit::done;
  }

  Exit nothing(const std::string& why) const {
    fmt::print("nothing written: {}\n", why);
    return Exit::done;
  }

  // With launches that the search has not seen.
  Exit confirm(const Variables& settings) {
    Demands demands;
    demands.across_environments = true;
    auto files = state_->confirmation(settings);
    auto exit = Exit::done;
    if (!files) {
      say(fmt::format("confirming {} with fresh launches, in at most {}",
                      settings_in_words(settings), roughly(time_left())));
      const auto file = new_run_file(options_.folder, "tune");
      auto launched =
          launch(settings,
                 {.launches = launches_of_confirmation, .of_all = time_left(), .demands = demands},
                 file.parent_path(), file.stem().string());
      exit = launched.exit;
      if (signals_.stop()) throw Failure(Exit::interrupted, signals_.reason());
      if (exit != Exit::done || !launched.base.result || !launched.now.result) {
        return worse(exit, nothing(settings_in_words(settings) + " did not finish"));
      }
      files = {launched.base.file, launched.now.file};
      state_->keep_confirmation(settings, *files);
    }
    const auto base = read_result(files->base);
    const auto now = read_result(files->now);
    return report(settings, *files, now, compare(base, now, demands));
  }

  Exit report(const Variables& settings, const TuneState::RunFiles& files, const Result& now,
              const Comparison& comparison) const {
    const auto verdict = verdict_on_settings(comparison);
    std::vector<std::string> lines;
    for (const auto& row : verdict.helps) {
      lines.push_back(fmt::format("helps {} {}: {}", row.key, row.metric, gain_in_words(row)));
    }
    for (const auto& row : verdict.costs) {
      lines.push_back(fmt::format("costs {} {}: {}", row.key, row.metric, gain_in_words(row)));
    }
    if (verdict.undecided > 0) {
      lines.push_back(fmt::format("no verdict on {}", counted(verdict.undecided, "row")));
    }
    if (!global_.quiet) {
      std::fputs(comparison_table(comparison, global_.verbose).c_str(), stdout);
      fmt::print("\n{}\n", settings_in_words(settings));
      for (const auto& line : lines) fmt::print("  {}\n", line);
    }
    if (!verdict.why_not.empty()) return nothing(verdict.why_not);
    std::vector<std::string> comments = {
        fmt::format("ucx-bench tune {}", args()),
        fmt::format("UCX {}, machine {}, {}", ucx_, text_at(now.machine, "/id"), utc_now()),
        fmt::format("{} compared with the default, in {} and {}:",
                    counted(launches_in(now), "fresh launch", "fresh launches"),
                    files.base.string(), files.now.string())};
    comments.insert(comments.end(), lines.begin(), lines.end());
    comments.emplace_back("Buffers were reused and warm; with fresh ones the gain may differ.");
    for (const auto& file : options_.outputs) {
      write_output(file, settings_file(settings_format_of(file), settings, comments));
      if (file != "-") say(fmt::format("wrote {}", file));
    }
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
  std::vector<std::string> words_;
  std::string ucx_ = probe().ucx.version;
  Signals signals_;  // must follow ucx_: probe() starts a process
  AbClock::time_point begin_ = AbClock::now();
  AbClock::duration whole_{};
  AbClock::duration spent_{};  ///< for launches of both sides, `launched_`
  int launched_ = 0;
  int needed_ = 0;         ///< launches for a verdict
  int measured_ = 0;       ///< pairs of runs
  bool has_time_ = false;  ///< the benchmark has --max-time
  std::vector<std::string> transports_;
  std::vector<Variables> candidates_;
  std::optional<TuneState> state_;
  std::optional<WorkFolder> work_;
  fs::path suite_;
};

// The words after `tune`: the benchmark and its options, without our own, which go into `o`.
std::vector<std::string> benchmark_words(const CLI::App& command, TuneOptions& o) {
  CLI::App ours;
  ours.set_help_flag("");
  ours.allow_extras();
  add_tune_options(ours, o);
  auto words = command.remaining();
  if (words.empty()) {
    throw Failure(Exit::usage,
                  "tune: expected a benchmark with its options, such as pingpong "
                  "--transports tcp");
  }
  std::ranges::reverse(words);  // CLI11 takes the last one first
  try {
    ours.parse(words);
  } catch (const CLI::ParseError& error) {
    throw Failure(Exit::usage, explain(error, ours));
  }
  return ours.remaining();
}

Exit run_tune(const CLI::App& command, TuneOptions& o, const GlobalOptions& global) {
  const auto words = benchmark_words(command, o);
  return TuneRun(o, words, global).run();
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
