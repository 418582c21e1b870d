#include <fmt/format.h>
#include <fmt/ranges.h>

#include <memory>

#include "bench/cli/commands/commands.hpp"
#include "bench/cli/options/help.hpp"
#include "bench/cli/options/outputs.hpp"
#include "harness/analysis/findings.hpp"
#include "harness/core/print.hpp"
#include "harness/launch/environment.hpp"
#include "harness/run/probe.hpp"
#include "harness/run/provenance.hpp"

namespace ucxbench {
namespace {

/// A run without cases: what the rules see before anything is measured.
Result examine(const std::vector<std::string>& command) {
  const auto found = probe({.cuda = true, .topology = true});
  auto result = describe_run(command, {}, found,
                             find_ucx_conf(current_environment(), {.library = found.ucx.library}));
  result.run["finished_utc"] = utc_now();
  result.run["state"] = "complete";
  result.findings = findings_of(result);
  return result;
}

std::string verdict(const std::vector<std::string>& reasons) {
  return reasons.empty() ? "fit to measure"
                         : fmt::format("not fit to measure: {}", fmt::join(reasons, ", "));
}

}  // namespace

AddedCommand add_doctor(CLI::App& app) {
  auto* command = app.add_subcommand(
      "doctor", "check whether this machine is fit to measure on (status 1: it is not)");
  add_examples(*command, {"doctor"});
  const auto outputs = std::make_shared<Outputs>();
  outputs->add_options(*command);
  return {command, [outputs](const GlobalOptions& global) {
            outputs->check();
            const auto result = examine(global.command);
            const auto written = outputs->write(result, global.table());
            outputs->write_run(result);
            const auto page = outputs->write_page(result);
            const auto reasons = reasons_against_measuring(result.findings);
            if (!outputs->takes_stdout()) print_to(stdout, "{}\n", verdict(reasons));
            return worse(worse(reasons.empty() ? Exit::done : Exit::gate, written), page);
          }};
}

}  // namespace ucxbench
