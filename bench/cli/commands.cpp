// The commands that only look: list, report, plot.

#include "bench/cli/commands.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdio>
#include <memory>
#include <set>

#include "bench/cli/outputs.hpp"
#include "harness/analysis/findings.hpp"
#include "harness/comm/gpu_direct.hpp"
#include "harness/comm/transport_set.hpp"
#include "harness/core/text.hpp"
#include "harness/launch/environment.hpp"
#include "harness/report/report.hpp"
#include "harness/report/scripts.hpp"
#include "harness/result/result.hpp"
#include "harness/run/benchmark.hpp"
#include "harness/run/probe.hpp"

namespace ucxbench {
namespace {

void print_row(std::string_view name, std::string_view text) {
  std::fputs(fmt::format("{:<12}{}\n", name, text).c_str(), stdout);
}

void list_transports() {
  const auto found = probe();
  for (const auto& known : transport_names()) {
    const auto reasons = missing(TransportSet::parse(known.name), found.ucx);
    print_row(known.name, reasons.empty()
                              ? fmt::format("available      {}", known.description)
                              : fmt::format("not available  {}", fmt::join(reasons, "; ")));
  }
  const auto print_ability = [](std::string_view name, const Ability& ability) {
    print_row(name, fmt::format("{:<15}{}", to_string(ability.state), ability.why));
  };
  const auto settings = current_environment();
  print_ability("gpudirect", gpu_direct_rdma(found.ucx, settings));
  print_ability("gdrcopy", gdr_copy(found.ucx, settings));
}

void list_devices() {
  std::set<std::pair<std::string, std::string>> seen;
  for (const auto& resource : probe().ucx.resources) {
    if (seen.emplace(resource.device, resource.transport).second) {
      print_row(resource.device, resource.transport);
    }
  }
}

void list_rules() {
  for (const auto& rule : rules()) {
    std::fputs(
        fmt::format("{:<20}{:<9}{}\n", rule.id, to_string(rule.severity), rule.description).c_str(),
        stdout);
  }
}

void list(const std::string& what) {
  if (what == "transports") return list_transports();
  if (what == "devices") return list_devices();
  if (what == "formats") {
    for (const auto& [name, format] : formats()) print_row(name, format.description);
    return;
  }
  if (what == "benchmarks") {
    for (const auto& benchmark : benchmarks()) print_row(benchmark.name, benchmark.description);
    return;
  }
  if (what == "rules") return list_rules();
  throw Failure(Exit::usage,
                unknown_name("thing to list", what,
                             {"benchmarks", "transports", "devices", "formats", "rules"}));
}

}  // namespace

AddedCommand add_list(CLI::App& app) {
  auto* command = app.add_subcommand("list", "benchmarks, transports, devices, formats or rules");
  const auto what = std::make_shared<std::string>();
  command->add_option("what", *what, "benchmarks | transports | devices | formats | rules");
  return {command, [what](const GlobalOptions&) {
            list(*what);
            return Exit::done;
          }};
}

AddedCommand add_report(CLI::App& app) {
  auto* command = app.add_subcommand("report", "a recorded run again, in any format");
  const auto file = std::make_shared<std::string>();
  const auto outputs = std::make_shared<Outputs>();
  command->add_option("run", *file, "the run's JSON file")->required()->type_name("RUN.json");
  outputs->add_options(*command);
  outputs->add_transfer_options(*command);
  return {command, [file, outputs](const GlobalOptions& global) {
            const auto result = read_result(*file);
            outputs->check();
            outputs->write(result, global.quiet, global.colored());
            outputs->write_run(result);
            return outputs->write_page(result);
          }};
}

AddedCommand add_plot(CLI::App& app) {
  auto* command = app.add_subcommand(
      "plot", "latency and bandwidth over size; every pair; scaling and phases of workloads");
  const auto runs = std::make_shared<std::vector<std::string>>();
  const auto output = std::make_shared<std::string>("ucx-bench.png");
  command->add_option("runs", *runs, "JSON files of runs")->required()->type_name("RUN.json");
  command->add_option("-o,--output", *output, "the picture: .png, .svg or .pdf")
      ->type_name("FILE")
      ->capture_default_str();
  return {command, [runs, output](const GlobalOptions&) {
            // Here, so that a bad file gets the same line whatever reads it.
            for (const auto& run : *runs) read_result(run);
            auto arguments = *runs;
            arguments.insert(arguments.end(), {"-o", *output});
            return static_cast<Exit>(run_script("plot", arguments));
          }};
}

}  // namespace ucxbench
