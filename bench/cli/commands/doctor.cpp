#include <fmt/format.h>
#include <fmt/ranges.h>

#include <memory>

#include "bench/cli/commands/carry_out.hpp"
#include "bench/cli/commands/commands.hpp"
#include "bench/cli/options/help.hpp"
#include "bench/cli/options/outputs.hpp"
#include "harness/analysis/findings.hpp"
#include "harness/core/print.hpp"

namespace ucxbench {
namespace {

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
            const auto result = examine_machine(global.command, {.cuda = true, .topology = true});
            const auto written = write_examined(result, *outputs, global);
            const auto reasons = reasons_against_measuring(result.findings);
            if (!outputs->takes_stdout()) print_to(stdout, "{}\n", verdict(reasons));
            return worse(reasons.empty() ? Exit::done : Exit::gate, written);
          }};
}

}  // namespace ucxbench
