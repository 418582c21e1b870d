#pragma once

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

namespace ucxbench {

/// Runs `script` ("plot": scripts/plot.py) with `args` and returns its exit status; its output goes
/// to ours. The script is the installed one, else the source tree's. The interpreter is the
/// environment's UCXBENCH_PYTHON, else the one that the build was set up with, else python3. Throws
/// Failure(Exit::cannot_run) where script or interpreter is missing, Failure(Exit::lost) when the
/// script is killed, also here when it has used no processor for `idle_limit`. One that works, on
/// however many runs, may take its time; after a minute stderr says so.
int run_script(const std::string& script, const std::vector<std::string>& args,
               std::chrono::milliseconds idle_limit = std::chrono::minutes(5));

/// The same with a file that holds `text` as the first argument; it has no name that could be left
/// behind. Throws Failure(Exit::cannot_run) also when there is no memory for it.
int run_script_on(const std::string& text, const std::string& script,
                  const std::vector<std::string>& args);

/// A script of the source tree that installations do not have. Throws Failure(Exit::cannot_run)
/// where there is no source tree.
std::filesystem::path source_script(const std::string& name);

}  // namespace ucxbench
