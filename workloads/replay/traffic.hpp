#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "harness/core/failure.hpp"
#include "harness/result/transfers.hpp"

namespace ucxbench::replay {

/// What one rank did in a recorded run: its messages in the order posted, all times in nanoseconds
/// after the run began. Nobody waited for a message whose completed_ns is 0.
struct Script {
  std::vector<Transfer> messages;
  std::uint64_t end_ns = 0;
};

/// Of a run that is played again: what is longer is a damaged log.
inline constexpr double longest_s = 1e6;

/// A recorded run of several ranks.
struct Traffic {
  std::string name;  ///< of the log and what is in it: "merge-1a2b3c4d"
  std::vector<Script> ranks;
  std::uint64_t messages = 0, bytes = 0;
  std::uint64_t wall_ns = 0;  ///< until its last rank had ended
};

/// Of records by rank, all by one clock, where the first rank began at `begin_ns`. Finds the two
/// ends of each message, and gives both one label of their own. A rank that played this back waits
/// for what had ended before its next message, so no two may wait for each other:
///   - a receive ends no earlier than its message was sent, whatever clocks of two hosts say;
///   - nobody waits for a send that had ended before it was received: the device had taken it, and
///     another one may not.
/// Then every wait is for something earlier. Throws Failure(Exit::usage), naming `log`, where an
/// end is missing.
Traffic traffic_of(const std::filesystem::path& log, std::vector<Script> ranks,
                   std::uint64_t begin_ns);

/// When each message of a script may begin: so many of those in `ends` must have ended, and then
/// its gap is over.
struct Order {
  std::vector<std::size_t> ends;       ///< messages that somebody waited for, as they ended
  std::vector<std::size_t> after;      ///< by message
  std::vector<std::uint64_t> gaps_ns;  ///< by message; then the one after the last that ended
};
Order order_of(const Script& script);

/// Reads the run file of a workload with its transfer log: of the case that is named, by its key or
/// a part of it, the run of median length. Without a name there must be one case. Else a dump of
/// Dask's transfer_incoming_log of all workers. Throws Failure(Exit::usage).
Traffic read_traffic(const std::filesystem::path& log, const std::string& named_case);

/// What is wrong with a log, in one line.
Failure refusal(const std::filesystem::path& log, const std::string& what);

// Which of the two it is.
Traffic read_recorded_run(const std::filesystem::path& log, const std::string& named_case);
/// {"tcp://10.0.0.1:4000": [{"who": "tcp://10.0.0.2:4000", "start": 12.5, "stop": 12.6, "total":
/// 1000}, …], …}: what each worker received, in seconds and bytes. The receiver asks for it by a
/// message of 8 bytes, as Dask's does.
Traffic parse_dask_log(const std::filesystem::path& log, const std::string& text);

}  // namespace ucxbench::replay
