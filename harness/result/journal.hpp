#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "harness/result/result.hpp"

namespace ucxbench {

// While a run goes on, its file has what was known at the beginning, with the journal's name in
// `run.journal`. The journal beside it, "run.json.partial", has lines of JSON: the run's id, then
// an event (events.hpp) each. A last line without its end was being written as the run ended.

inline constexpr std::string_view journal_suffix = ".partial";

std::filesystem::path journal_of(const std::filesystem::path& run_file);

/// The file of a run, also where its journal is named.
std::filesystem::path run_file_of(const std::filesystem::path& named);

/// The first line.
std::string journal_head(const Result& run);

/// Adds the events in `text`, a journal, to the run that its file begins, and sums it up. One of
/// another run has none. Throws Failure(Exit::usage) with one line when a whole line is none of a
/// journal's.
void take_journal(Result& run, std::string_view text, const std::string& name);

/// Compact, with doubles as the run file has them.
std::string journal_line(const Json& json);

}  // namespace ucxbench
