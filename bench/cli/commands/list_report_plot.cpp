// The commands that only look: list, report, plot.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "bench/cli/commands/commands.hpp"
#include "bench/cli/options/help.hpp"
#include "bench/cli/options/measuring_options.hpp"
#include "bench/cli/options/options.hpp"
#include "bench/cli/options/outputs.hpp"
#include "harness/analysis/annotate.hpp"
#include "harness/analysis/findings.hpp"
#include "harness/core/failure.hpp"
#include "harness/core/names.hpp"
#include "harness/core/print.hpp"
#include "harness/core/text.hpp"
#include "harness/launch/environment.hpp"
#include "harness/report/drawn.hpp"
#include "harness/report/report.hpp"
#include "harness/report/scripts.hpp"
#include "harness/report/text.hpp"
#include "harness/result/result.hpp"
#include "harness/run/benchmark.hpp"
#include "harness/run/probe.hpp"
#include "harness/transports/gpu_direct.hpp"
#include "harness/transports/transport_set.hpp"

namespace ucxbench {
namespace {

constexpr std::size_t name_width = 12;

void print_row(std::string_view name, std::string_view text, std::size_t width = name_width) {
  print_to(stdout, "{:<{}}{}\n", name, width, text);
}

void list_transports() {
  const auto found = probe({.cuda = true});
  const auto print = [](std::string_view name, std::string_view state, const std::string& text) {
    const auto head = fmt::format("{:<12}{:<15}", name, state);
    auto lines = wrapped(text, std::string(head.size(), ' '), page_width());
    print_to(stdout, "{}", lines.replace(0, head.size(), head));
  };
  for (const auto& known : transports()) {
    const auto why = why_not_here(known.name, found);
    print(known.name, why.empty() ? "available" : "not available",
          why.empty() ? std::string(known.description) : why);
  }
  const auto print_ability = [&](std::string_view name, const Ability& ability) {
    print(name, to_string(ability.state), ability.why);
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
  print_to(stdout, "{:<20}{:<10}{}\n", "rule", "severity", "when");
  for (const auto& rule : rules()) {
    print_to(stdout, "{:<20}{:<10}{}\n", rule.id, to_string(rule.severity), rule.description);
  }
}

void list_formats() {
  std::size_t width = name_width;
  for (const auto& [name, format] : formats()) width = std::max(width, name.size() + 2);
  for (const auto& [name, format] : formats()) print_row(name, format.description, width);
}

void list_benchmarks() {
  for (const auto& benchmark : benchmarks()) print_row(benchmark.name, benchmark.summary);
}

Json benchmarks_for_machines() {
  auto all = Json::array();
  for (const auto& benchmark : benchmarks()) {
    all.push_back({{"name", benchmark.name},
                   {"summary", benchmark.summary},
                   {"like", names_in(benchmark.presets)},
                   {"options", options_of(benchmark)}});
  }
  return all;
}

struct Listing {
  std::string_view name, description;
  void (*print)();
};
constexpr std::array<Listing, 5> listings = {{
    {"benchmarks", "what can be measured", list_benchmarks},
    {"transports", "which can run here, and why not", list_transports},
    {"devices", "that UCX finds here, and over which of its transports", list_devices},
    {"formats", "that results can be written in", list_formats},
    {"rules", "the findings that reports look for", list_rules},
}};

void list(const std::string& what, const std::string& format) {
  if (format == "json") {
    if (what != "benchmarks") throw Failure(Exit::usage, "--format json: of benchmarks alone");
    print_to(stdout, "{}\n", to_text(benchmarks_for_machines()));
    return;
  }
  for (const auto& listing : listings) {
    if (what.empty()) print_row(listing.name, listing.description);
    if (what == listing.name) return listing.print();
  }
  if (!what.empty())
    throw Failure(Exit::usage, unknown_name("thing to list", what, names_in(listings)));
}

// A bad file is left out where others are there to draw.
std::vector<Result> readable(const std::vector<std::string>& files) {
  std::vector<Result> good;
  std::optional<Failure> bad;
  for (const auto& file : files) {
    try {
      good.push_back(read_result(file));
    } catch (const Failure& failure) {
      if (files.size() > 1) print_to(stderr, "ucx-bench: {}: it is left out\n", failure.what());
      bad = failure;
    }
  }
  if (good.empty() && bad) throw Failure(*bad);
  return good;
}

}  // namespace

AddedCommand add_list(CLI::App& app) {
  auto* command =
      app.add_subcommand("list", "list benchmarks, transports, devices, formats or rules");
  add_examples(*command, {"list transports"});
  const auto what = std::make_shared<std::string>();
  const auto format = std::make_shared<std::string>("text");
  command->add_option("what", *what, help_on(listings) + "; without one: what each is");
  command
      ->add_option("--format", *format,
                   "text | json: of benchmarks, with every option that they have")
      ->check(one_of({"text", "json"}))
      ->capture_default_str();
  return {command, [what, format](const GlobalOptions&) {
            list(*what, *format);
            return Exit::done;
          }};
}

AddedCommand add_report(CLI::App& app) {
  auto* command =
      app.add_subcommand("report", "show a recorded run, or convert it to another format");
  add_examples(*command,
               {"report run.json --findings", "report run.json --html run.html --csv run.csv"});
  const auto file = std::make_shared<std::string>();
  const auto outputs = std::make_shared<Outputs>();
  command->add_option("run", *file, "the run's JSON file")->required()->type_name("RUN.json");
  const auto findings = std::make_shared<bool>(false);
  command->add_flag("--findings", *findings, "every finding, not the first three")->group("output");
  outputs->add_options(*command);
  outputs->add_transfer_options(*command);
  return {command, [file, outputs, findings](const GlobalOptions& global) {
            auto result = read_result(*file);
            judge_anew(result);
            outputs->check(*file);
            auto table = global.table();
            if (table) table->findings |= *findings;
            const auto written = outputs->write(result, table);
            outputs->write_run(result);
            return worse(written, outputs->write_page(result));
          }};
}

AddedCommand add_plot(CLI::App& app) {
  auto* command = app.add_subcommand("plot", "draw recorded runs: curves, pairs, scaling, phases");
  add_examples(*command, {"plot run.json -o run.png"});
  const auto runs = std::make_shared<std::vector<std::string>>();
  const auto output = std::make_shared<std::string>("ucx-bench.png");
  command->add_option("runs", *runs, "JSON files of runs")->required()->type_name("RUN.json");
  command->add_option("-o,--output", *output, "the picture: .png, .svg or .pdf")
      ->type_name("FILE")
      ->capture_default_str();
  return {command, [runs, output](const GlobalOptions&) {
            const auto document = json_text(plot_to_draw(readable(*runs)));
            return static_cast<Exit>(run_script_on(document, "plot", {"-o", *output}));
          }};
}

}  // namespace ucxbench
