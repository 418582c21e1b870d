#include "bench/cli/options/tune_options.hpp"

#include <algorithm>
#include <utility>

#include "bench/cli/options/options.hpp"
#include "bench/cli/options/run_options.hpp"
#include "harness/core/failure.hpp"
#include "harness/core/text.hpp"

namespace ucxbench {

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
  command
      .add_option("--suite", o.suite,
                  "confirm with these cases too: they must not lose what the benchmark gains")
      ->type_name("FILE.toml");
  command.add_option("--max-time", o.max_time, "time for search and confirmation together")
      ->type_name("TIME")
      ->capture_default_str();
  command
      .add_option("--folder", o.folder,
                  "directory of the confirmation's run files (default: ucx-bench-runs/)")
      ->type_name("FOLDER");
}

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

std::vector<Variables> tried_instead(const std::vector<std::string>& tried) {
  std::vector<Variables> candidates;
  for (const auto& together : tried) {
    std::vector<std::string> parts;
    for (const auto part : split_text(together, ',')) parts.emplace_back(part);
    candidates.push_back(key_values("--try", parts, "UCX_"));
  }
  return candidates;
}

}  // namespace ucxbench
