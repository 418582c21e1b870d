#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "harness/analysis/history/run_tree.hpp"

namespace ucxbench {

/// What a row may have in common with others.
struct CauseFacts {
  std::vector<std::pair<std::string, std::string>> fields;  ///< "transports", "shm"
  std::optional<std::uint64_t> bytes{};                     ///< the message size
};

/// `of` is null where the run does not have the case.
CauseFacts facts_of(const std::string& key, const std::string& metric, const Case* of);

/// A cause in words, "all shm ≥ 64 KiB", and of how many rows it is.
using Cause = std::pair<std::string, std::size_t>;

/// What rows that lost, and no others, have in common: again and again what holds for most of those
/// left that lost, at least two, and for none of `kept`, which are known to be as before. Rows
/// without a verdict are in neither list.
std::vector<Cause> causes_of(std::vector<CauseFacts> lost, const std::vector<CauseFacts>& kept);

/// The command that lists the commits between two runs; empty if there are none, or nobody knows.
std::string suspects_between(const HistoryRun& base, const HistoryRun& now);

/// A command ready to be typed, and what it is for.
using NextCommand = std::pair<std::string, std::string>;

/// The suspects, the run again, and the search for the commit; `since` is the first run that had
/// lost.
std::vector<NextCommand> commands_after(const HistoryRun& base, const HistoryRun& now,
                                        const HistoryRun& since);

}  // namespace ucxbench
