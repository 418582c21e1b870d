#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

#include "bench/cli/commands.hpp"
#include "bench/cli/outputs.hpp"
#include "harness/analysis/import.hpp"
#include "harness/launch/fd.hpp"
#include "harness/report/scripts.hpp"
#include "harness/report/topology.hpp"
#include "harness/result/result.hpp"
#include "harness/topology/discover.hpp"

namespace ucxbench {
namespace {

struct TopoOptions {
  std::string file;
  std::string format = "text";
  std::string output = "-";
};

/// The script reads a file; this one has no name that could be left behind.
Exit draw(const std::string& json, const std::string& output) {
  const Fd file(::memfd_create("topology.json", 0));
  const auto length = static_cast<ssize_t>(json.size());
  if (!file || ::write(file.get(), json.data(), json.size()) != length) {
    throw Failure(Exit::cannot_run,
                  fmt::format("no memory for the topology's JSON: {}", std::strerror(errno)));
  }
  const auto name = fmt::format("/dev/fd/{}", file.get());
  return static_cast<Exit>(run_script("topology", {name, "--output", output}));
}

Exit run(const TopoOptions& options) {
  const auto graph = options.file.empty() ? discover() : import_topology(options.file);
  if (options.format == "svg") return draw(to_text(to_json(graph)), options.output);
  const auto text = options.format == "json" ? to_text(to_json(graph)) : topology_text(graph);
  write_output(options.output, text);
  return Exit::done;
}

}  // namespace

AddedCommand add_topo(CLI::App& app) {
  auto* command =
      app.add_subcommand("topo", "how GPUs, NICs and processors of a machine are connected");
  const auto options = std::make_shared<TopoOptions>();
  command
      ->add_option("--import", options->file,
                   "another machine's: what nvidia-smi topo -m, lstopo (XML) or NCCL (XML) wrote")
      ->type_name("FILE");
  command->add_option("--format", options->format, "text, json or svg")
      ->check(CLI::IsMember({"text", "json", "svg"}))
      ->capture_default_str();
  command->add_option("-o,--output", options->output, "a file, or - for stdout")
      ->type_name("FILE")
      ->capture_default_str();
  return {command, [options](const GlobalOptions&) { return run(*options); }};
}

}  // namespace ucxbench
