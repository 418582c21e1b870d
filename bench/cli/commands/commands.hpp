#pragma once

#include <CLI/CLI.hpp>
#include <functional>

#include "bench/cli/options/options.hpp"
#include "harness/core/failure.hpp"

namespace ucxbench {

/// A command adds itself to the program and returns what runs it.
using Command = std::function<Exit(const GlobalOptions&)>;

struct AddedCommand {
  CLI::App* app;
  Command run;
  /// Adds the options that the command else gets when it is parsed; null where it has them all.
  std::function<void()> complete = {};
};

AddedCommand add_suite(CLI::App& app);
AddedCommand add_ab(CLI::App& app);
AddedCommand add_versions(CLI::App& app);
AddedCommand add_tune(CLI::App& app);
AddedCommand add_check(CLI::App& app);
AddedCommand add_soak(CLI::App& app);
AddedCommand add_topo(CLI::App& app);
AddedCommand add_copies(CLI::App& app);
AddedCommand add_doctor(CLI::App& app);
AddedCommand add_advise(CLI::App& app);
AddedCommand add_list(CLI::App& app);
AddedCommand add_report(CLI::App& app);
AddedCommand add_compare(CLI::App& app);
AddedCommand add_plot(CLI::App& app);
AddedCommand add_dashboard(CLI::App& app);

}  // namespace ucxbench
