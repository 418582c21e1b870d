#pragma once

#include <filesystem>
#include <string>

#include "harness/result/result.hpp"

namespace ucxbench {

// A folder of results: FOLDER/<machine>/<yyyy-mm>/<utc>-<command>-<pid>.json. A run file is whole
// and never changes; what a machine's runs have in common stands beside its months once more, for
// people and for advise --topology: machine-<hash>.json and topology-<hash>.json.

/// <utc>-<command>-<pid>.json: two runs may begin in one second.
std::string run_file_name(const std::string& command);

/// Where a run that begins now on machine `id` is kept. Makes the folders; nothing else is written.
std::filesystem::path new_run_in_tree(const std::filesystem::path& folder, const std::string& id,
                                      const std::string& command);

/// Writes the machine's facts and its topology where they are not there yet. Throws
/// Failure(Exit::usage).
void keep_facts(const std::filesystem::path& folder, const Result& result);

}  // namespace ucxbench
