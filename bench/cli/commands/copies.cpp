#include <memory>

#include "bench/cli/commands/commands.hpp"
#include "bench/cli/options/help.hpp"
#include "bench/cli/options/options.hpp"
#include "bench/cli/options/outputs.hpp"
#include "bench/copies/gpu_copies.hpp"
#include "bench/copies/table.hpp"
#include "harness/core/of_option.hpp"
#include "harness/core/units.hpp"
#include "harness/result/result.hpp"

namespace ucxbench {
namespace {

struct CopiesOptions {
  std::string size = "64MiB";
  int count = copies::Asked{}.copies;
  std::string devices;
  std::string format = "text";
  std::string output = "-";
};

Exit run(const CopiesOptions& options) {
  copies::Asked asked;
  asked.bytes = of_option("--size", [&] { return parse_size(options.size); });
  asked.copies = options.count;
  if (!options.devices.empty()) {
    asked.devices = of_option("--devs", [&] { return parse_list(options.devices); });
  }
  const auto measured = copies::measure(asked);
  const bool json = options.format == "json";
  return write_or_keep(options.output, json ? to_text(to_json(measured)) : table_of(measured));
}

}  // namespace

AddedCommand add_copies(CLI::App& app) {
  auto* command = app.add_subcommand(
      "copies", "copy rates between NUMA nodes and GPUs, and between GPUs, without UCX");
  add_examples(*command, {"copies", "copies --devs 0,1 --format json -o copies.json"});
  const auto options = std::make_shared<CopiesOptions>();
  command->add_option("-s,--size", options->size, "bytes of each copy")
      ->type_name("SIZE")
      ->capture_default_str();
  command->add_option("--copies", options->count, "copies that are timed together")
      ->check(in_range(1, 10'000))
      ->capture_default_str();
  command->add_option("--devs", options->devices, "GPUs: 0-3,7 (default: all)")->type_name("LIST");
  command->add_option("--format", options->format, "text or json")
      ->check(one_of({"text", "json"}))
      ->capture_default_str();
  command->add_option("-o,--output", options->output, "a file, or - for stdout")
      ->type_name("FILE")
      ->capture_default_str();
  return {command, [options](const GlobalOptions&) { return run(*options); }};
}

}  // namespace ucxbench
