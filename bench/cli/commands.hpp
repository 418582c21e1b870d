#pragma once

#include <CLI/CLI.hpp>
#include <functional>

#include "bench/cli/options.hpp"
#include "harness/core/failure.hpp"

namespace ucxbench {

/// A command adds itself to the program and returns what runs it.
using Command = std::function<Exit(const GlobalOptions&)>;

struct AddedCommand {
  CLI::App* app;
  Command run;
};

AddedCommand add_pingpong(CLI::App& app);
AddedCommand add_cold(CLI::App& app);
AddedCommand add_p2p(CLI::App& app);
AddedCommand add_transpose(CLI::App& app);
AddedCommand add_merge(CLI::App& app);
AddedCommand add_topo(CLI::App& app);
AddedCommand add_doctor(CLI::App& app);
AddedCommand add_list(CLI::App& app);
AddedCommand add_report(CLI::App& app);
AddedCommand add_compare(CLI::App& app);
AddedCommand add_plot(CLI::App& app);

}  // namespace ucxbench
