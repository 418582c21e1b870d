#pragma once

#include <map>
#include <string>
#include <vector>

#include "harness/result/result.hpp"

namespace ucxbench {

/// The words with which a run was asked for, without the program: of `run.asked` (every option that
/// was given, on the command line, in the environment or in a file, by its long name), else of
/// `run.command`, which has the command line alone.
std::vector<std::string> asked_words(const Result& result);

/// The measuring command among them, "pingpong", "suite"; empty where the file does not say.
std::string command_of(const Result& result);

/// All of that as a line, the same for whoever asked the same: "pingpong --sizes 8 --transports
/// shm", "suite ci/suite.toml", "ab ci/suite.toml --new-env UCX_X=1". Options are sorted; what only
/// says where results go or how many launches there are is left out, and of a suite's file, the
/// folders above its own.
std::string asked_in_words(const Result& result);

/// The options among them that say what is measured, by name, the values of one that is repeated
/// joined by commas: {"--transports": "tcp,shm"}. Of a suite, only those of the environment: the
/// rest is in its file.
std::map<std::string, std::string> asked_options(const Result& result);

/// What to give for so many launches where this run came from: an option, or the suite file's line.
std::string launches_in_words(const Result& result, const std::string& launches);

/// The same for more than there were: "raise --launches".
std::string more_launches_in_words(const Result& result);

}  // namespace ucxbench
