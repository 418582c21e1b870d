#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <system_error>

#include "bench/cli/commands/ab_run.hpp"
#include "bench/cli/commands/bisect.hpp"
#include "bench/cli/commands/commands.hpp"
#include "bench/cli/options/help.hpp"
#include "bench/cli/options/outputs.hpp"
#include "bench/cli/options/ucx_prefix.hpp"
#include "bench/cli/plan/suite_plan.hpp"
#include "harness/core/build_info.hpp"
#include "harness/core/files.hpp"
#include "harness/core/of_option.hpp"
#include "harness/core/print.hpp"
#include "harness/core/text.hpp"
#include "harness/core/units.hpp"
#include "harness/report/scripts.hpp"
#include "harness/report/versions_view.hpp"
#include "harness/result/cases.hpp"
#include "harness/result/words.hpp"
#include "harness/run/provenance.hpp"
#include "harness/topology/cpus.hpp"

namespace ucxbench {
namespace {

namespace fs = std::filesystem;

struct VersionsOptions {
  std::string file;
  std::vector<std::string> ucx;
  std::string bisect;
  std::string folder;
  std::string max_time;
  std::string json, markdown, html;
};

/// An installation of UCX.
struct UcxVersion {
  std::string name;
  std::string given;   ///< the option with its value
  fs::path libraries;  ///< the folder of libucp.so.0
};

// The fetching script waits at most that long for its environment and for the package.
constexpr std::chrono::seconds fetch_limit{1800};

fs::path fetched(const std::string& option, const std::string& version, Signals& signals) {
  const auto script = source_script("setup/ucx-wheel");
  const auto end = run_program({.argv = {"bash", script.string(), version},
                                .environment = current_environment(),
                                .limit = fetch_limit,
                                .is_heard = true},
                               signals);
  if (signals.stop()) throw Failure(Exit::interrupted, signals.reason());
  if (end.signal == 0 && end.status == 0) return std::string(trim_text(end.out));
  throw Failure(end.status == 2 ? Exit::usage : Exit::cannot_run,
                fmt::format("--ucx {}: {}", option,
                            std::string(split_text(trim_text(end.said), '\n').back())));
}

// "1.13.1=/usr", "/opt/ucx", "pypi:1.17.0", "old=pypi:1.17.0".
UcxVersion version_of(const std::string& option, Signals& signals) {
  constexpr std::string_view pypi = "pypi:";
  const auto equals = option.find('=');
  const auto place = equals == std::string::npos ? option : option.substr(equals + 1);
  auto name = equals == std::string::npos ? place : option.substr(0, equals);
  if (name.empty() || place.empty()) {
    throw Failure(Exit::usage,
                  fmt::format("--ucx '{}': expected NAME=PREFIX, or pypi:VERSION", option));
  }
  const auto given = "--ucx " + option;
  if (!place.starts_with(pypi)) return {name, given, ucx_libraries(given, place)};
  const auto version = place.substr(pypi.size());
  if (equals == std::string::npos) name = version;
  return {name, given, ucx_libraries(given, fetched(option, version, signals))};
}

std::vector<UcxVersion> versions_of(const std::vector<std::string>& options, Signals& signals) {
  if (options.size() < 2) {
    throw Failure(Exit::usage,
                  "--ucx: give two versions at least; the first is what the others "
                  "are compared with");
  }
  std::vector<UcxVersion> versions;
  for (const auto& option : options) {
    auto found = version_of(option, signals);
    const auto same = std::ranges::find(versions, found.name, &UcxVersion::name);
    if (same != versions.end()) {
      throw Failure(Exit::usage, fmt::format("--ucx {}: two have the name {}; give NAME=PREFIX",
                                             option, found.name));
    }
    for (const auto& other : versions) {
      if (!is_same_ucx(other.libraries, found.libraries)) continue;
      throw Failure(Exit::usage,
                    fmt::format("--ucx {}: it is the same UCX as {} ({}), byte for byte: there is "
                                "nothing to compare; give the prefix of another installation",
                                option, other.name, other.libraries.string()));
    }
    versions.push_back(std::move(found));
  }
  return versions;
}

/// Compares versions of UCX with the first of them, each together with it (AbRun).
class VersionsRun {
 public:
  VersionsRun(const VersionsOptions& options, const GlobalOptions& global)
      : options_(options),
        global_(global),
        versions_(versions_of(options.ucx, signals_)),
        planned_(plan_suite(options.file)) {
    const auto host = describe_host();
    all_ = {{"schema", "ucx-bench/versions/1"},
            {"started_utc", utc_now()},
            {"command", global.command},
            {"build",
             {{"version", build_info().version},
              {"commit", build_info().commit},
              {"dirty", build_info().dirty}}},
            {"machine", {{"id", machine_id(host)}, {"hosts", Json::array({host})}}},
            {"suite", options.file},
            {"versions", Json::array()},
            {"rows", Json::array()}};
    for (const auto& version : versions_) {
      all_["versions"].push_back({{"name", version.name},
                                  {"libraries", version.libraries.string()},
                                  {"ucx", nullptr},
                                  {"run", nullptr},
                                  {"base_run", nullptr},
                                  {"problem", nullptr},
                                  {"failed", Json::object()}});
    }
  }

  Exit all_of_them() {
    auto exit = Exit::done;
    for (std::size_t at = 1; at < versions_.size() && !signals_.stop(); ++at) {
      say(fmt::format("UCX {} beside {}, {} of {}", versions_[at].name, versions_.front().name, at,
                      versions_.size() - 1));
      exit = worse(exit, measure(at, {}, versions_.size() - 1));
    }
    const auto is_measured = [](const Json& version) { return version.at("run").is_string(); };
    const bool any = std::ranges::any_of(all_.at("versions"), is_measured);
    return any ? exit : worse(exit, Exit::cannot_run);
  }

  /// Looks for the first version, in their order, that has the last one's change.
  Exit search() {
    refuse_unknown_case();
    const auto last = versions_.size() - 1;
    const auto steps = static_cast<std::size_t>(std::ceil(std::log2(last))) + 1;
    auto exit = measure(last, {options_.bisect}, steps);
    if (signals_.stop()) return exit;
    const auto followed = most_changed(all_, versions_[last].name);
    if (!followed) return worse(exit, no_change(last));
    const auto found = bisect(last, [&](std::size_t at) {
      if (signals_.stop()) return HasIt::unknown;
      exit = worse(exit, measure(at, {options_.bisect}, steps));
      return has_change(all_, *followed, versions_[at].name);
    });
    if (signals_.stop()) return exit;
    const auto what = fmt::format("{}: {}", options_.bisect, name_of_row(all_, *followed));
    if (found.without + 1 == found.with) {
      found_ = fmt::format("{} changed from UCX {} to {}", what, versions_[found.without].name,
                           versions_[found.with].name);
      return exit;
    }
    found_ = fmt::format("{} changed between UCX {} and {}; nothing was decided of what is between",
                         what, versions_[found.without].name, versions_[found.with].name);
    for (auto at = found.without + 1; at < found.with; ++at) found_ += "\n" + undecided(at);
    return worse(exit, Exit::inconclusive);
  }

  /// What was measured, as it was asked for.
  Exit write() const {
    auto exit = write_or_keep(options_.json, to_text(all_) + "\n");
    exit = worse(exit, write_or_keep(options_.markdown, versions_markdown(all_)));
    if (options_.json != "-" && options_.markdown != "-" && options_.html != "-" && !global_.quiet)
      print_to(stdout, "{}", versions_table(all_) + (found_.empty() ? "" : found_ + "\n"));
    std::fflush(stdout);
    if (signals_.stop()) return worse(exit, Exit::interrupted);
    if (options_.html.empty()) return exit;
    return worse(
        exit, static_cast<Exit>(run_script_on(to_text(all_), "versions", {"-o", options_.html})));
  }

  Exit dry_run() {
    for (std::size_t at = 1; at < versions_.size(); ++at) {
      auto [base, now] = sides(at);
      AbRun run(options_.file, extent({}, versions_.size() - 1), AbMethod::automatic, global_);
      run.ask(base, now, signals_);
      print_to(stdout, "{}: {}\n{}: {}\nUCX {} beside {}: {}\n", versions_.front().name,
               ucx_in_words(base), versions_[at].name, ucx_in_words(now), versions_[at].name,
               versions_.front().name, run.whole_time());
    }
    return Exit::done;
  }

 private:
  void say(const std::string& line) const {
    if (!global_.quiet) print_to(stderr, "{}\n", line);
  }

  AbExtent extent(std::vector<std::string> only, std::size_t comparisons) const {
    AbExtent extent{.launches = planned_.launches, .of_each_side = planned_.max_time};
    extent.demands.across_environments = true;
    extent.only = std::move(only);
    if (options_.max_time.empty()) return extent;
    const auto whole = of_option("--max-time", [&] { return parse_duration(options_.max_time); });
    extent.of_all = whole / static_cast<int>(comparisons);
    return extent;
  }

  std::pair<AbSide, AbSide> sides(std::size_t at) const {
    return {side_of("base", versions_.front()), side_of("new", versions_[at])};
  }

  static AbSide side_of(const std::string& name, const UcxVersion& version) {
    return {.name = name,
            .program = own_program().string(),
            .added = ucx_environment(version.libraries),
            .ucx_asked = version.given,
            .ucx_libraries = version.libraries};
  }

  // A version that cannot run is a column with its reason, one that cannot run some cases has cells
  // with theirs, and is measured again without them.
  Exit measure(std::size_t at, std::vector<std::string> only, std::size_t comparisons) {
    for (;;) {
      const auto known = all_["versions"][at]["failed"].size();
      const auto exit = measure_once(at, only, comparisons);
      const auto& failed = all_["versions"][at]["failed"];
      if (exit != Exit::lost || failed.size() == known) return exit;
      if (only.empty()) only = keys_;
      std::erase_if(only, [&](const std::string& key) { return failed.contains(key); });
      if (only.empty()) return Exit::done;
      say(fmt::format("UCX {}: again without the failed cases", versions_[at].name));
    }
  }

  Exit measure_once(std::size_t at, const std::vector<std::string>& only, std::size_t comparisons) {
    auto [base, now] = sides(at);
    const auto wanted = extent(only, comparisons);
    AbRun run(options_.file, wanted, AbMethod::automatic, global_);
    auto& version = all_["versions"][at];
    try {
      run.ask(base, now, signals_);
    } catch (const Failure& failure) {
      if (signals_.stop()) return Exit::interrupted;
      version["problem"] = failure.what();
      say(fmt::format("UCX {}: {}", versions_[at].name, failure.what()));
      return Exit::done;
    }
    all_["versions"][0]["loaded"] = ucx_of(base);
    version["loaded"] = ucx_of(now);
    say(fmt::format("{}: {}\n{}: {}", versions_.front().name, ucx_in_words(base),
                    versions_[at].name, ucx_in_words(now)));
    base.file = new_run_file(options_.folder, "versions-base");
    now.file = new_run_file(options_.folder, "versions-new");
    const auto exit = run.measure(base, now, signals_);
    if (now.result) note_failed(*now.result, version["failed"]);
    if (!base.result || !now.result || exit == Exit::lost) return exit;
    all_["versions"][0]["ucx"] = base.result->ucx.value("version", Json());
    version["ucx"] = now.result->ucx.value("version", Json());
    version["run"] = now.file.string();
    version["base_run"] = base.file.string();
    add_version(all_, versions_[at].name, *base.result, *now.result,
                compare(*base.result, *now.result, wanted.demands));
    // What was measured is there, whatever comes of the next.
    if (!options_.json.empty() && options_.json != "-")
      write_or_keep(options_.json, to_text(all_) + "\n");
    return exit;
  }

  void note_failed(const Result& now, Json& failed) {
    keys_.clear();
    for (const auto& of : now.cases) {
      if (is_canary(of)) continue;
      keys_.push_back(of.key);
      if (of.state == CaseState::failed) failed[of.key] = of.reason;
    }
  }

  /// It is no version's problem. Throws Failure(Exit::usage).
  void refuse_unknown_case() {
    auto base = side_of("base", versions_.front());
    auto same = side_of("new", versions_.front());
    auto wanted = extent({options_.bisect}, 1);
    wanted.may_be_equal = true;
    try {
      AbRun(options_.file, wanted, AbMethod::automatic, global_).ask(base, same, signals_);
    } catch (const Failure& failure) {
      if (signals_.stop()) throw;
      throw Failure(
          Exit::usage,
          fmt::format("--bisect {}: UCX {} cannot measure it, or '{}' has no such case: {}",
                      options_.bisect, versions_.front().name, options_.file, failure.what()));
    }
  }

  /// Nothing is unchanged that was not measured, or has no verdict.
  Exit no_change(std::size_t last) {
    const auto why = why_undecided(all_, options_.bisect, versions_[last].name);
    if (why.empty()) {
      found_ = fmt::format("no significant change of {} from {} to {}", options_.bisect,
                           versions_.front().name, versions_[last].name);
      return Exit::done;
    }
    found_ = fmt::format("{}: nothing was decided\n{}", options_.bisect, undecided(last));
    const bool measured = all_["versions"][last]["run"].is_string();
    return measured ? Exit::inconclusive : Exit::cannot_run;
  }

  std::string undecided(std::size_t at) const {
    return fmt::format("  UCX {}: {}", versions_[at].name,
                       why_undecided(all_, options_.bisect, versions_[at].name));
  }

  const VersionsOptions& options_;
  const GlobalOptions& global_;
  Signals signals_;
  std::vector<UcxVersion> versions_;
  PlannedSuite planned_;
  std::vector<std::string> keys_;  ///< of the last run's cases
  Json all_;
  std::string found_;
};

Exit run_versions(const VersionsOptions& o, const GlobalOptions& global) {
  check_outputs({{"json", o.json}, {"markdown", o.markdown}, {"html", o.html}}, {o.file});
  VersionsRun run(o, global);
  if (global.dry_run) return run.dry_run();
  const auto exit = o.bisect.empty() ? run.all_of_them() : run.search();
  return worse(exit, run.write());
}

}  // namespace

AddedCommand add_versions(CLI::App& app) {
  auto* command =
      app.add_subcommand("versions", "compare several installations of UCX with the first of them");
  add_examples(*command, {"versions suite.toml --ucx 1.13.1=/usr --ucx pypi:1.22.0"});
  const auto options = std::make_shared<VersionsOptions>();
  auto& o = *options;
  command->add_option("file", o.file, "the suite, as for suite")
      ->required()
      ->type_name("FILE.toml");
  command
      ->add_option("--ucx", o.ucx,
                   "an installation: NAME=PREFIX, or pypi:VERSION, which is fetched into .ucx; "
                   "repeatable, the first is the base")
      ->type_name("UCX")
      ->allow_extra_args(false);
  command
      ->add_option("--bisect", o.bisect,
                   "measure this case alone, and find the first version that has the last "
                   "version's change")
      ->type_name("CASE");
  command->add_option("--folder", o.folder, "where the run files are kept, else ucx-bench-runs/")
      ->type_name("FOLDER");
  command
      ->add_option("--max-time", o.max_time,
                   "limit of the whole command, as 1h; an equal part for each version")
      ->type_name("TIME");
  command->add_option("--json", o.json, "the table: a file, or - for stdout")->type_name("FILE");
  command->add_option("--markdown", o.markdown, "the table: a file, or - for stdout")
      ->type_name("FILE");
  command->add_option("--html", o.html, "a page with a heat map: a file, or - for stdout")
      ->type_name("FILE");
  return {command,
          [options](const GlobalOptions& global) { return run_versions(*options, global); }};
}

}  // namespace ucxbench
