#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "harness/core/failure.hpp"
#include "harness/result/transfers.hpp"
#include "workloads/common/two_ends.hpp"

namespace ucxbench::replay {

/// One rank's part of a recorded run: its messages in the order in which they were posted, all
/// times in nanoseconds after the run began. A message with completed_ns 0 is not waited for.
struct Script {
  std::vector<Transfer> messages;
  std::uint64_t end_ns = 0;
  std::string clock{};  ///< whose times they are; those of two clocks say nothing about each other
};

/// What one rank sent another in the recorded run.
struct TrafficPair {
  std::vector<std::uint64_t> sizes{};  ///< of its messages in bytes, in ascending order
  TimedMessages timed{};               ///< nothing is known of those between two clocks

  /// The smallest size that is not below this part (0 to 1) of the messages'.
  std::uint64_t size_at(double part) const;
};

/// The longest run that can be replayed: a longer one is from a damaged log.
inline constexpr double longest_s = 1e6;

/// A recorded run of several ranks.
struct Traffic {
  std::string name;  ///< the log's name and a hash of the messages: "merge-1a2b3c4d"
  std::vector<Script> ranks;
  std::map<std::pair<int, int>, TrafficPair> pairs;  ///< by sender and receiver
  std::uint64_t messages = 0, bytes = 0;
  std::uint64_t wall_ns = 0;          ///< until its last rank had ended
  std::vector<std::string> doubts{};  ///< what of the log was left out or looks wrong, a line each
};

/// Makes traffic of the ranks' records, all by one clock; the first rank began at `begin_ns`. Finds
/// the two ends of each message and gives both the same label. In a replay a rank waits for what
/// had ended before its next message, so the records must not let two ranks wait for each other:
///   - a receive ends no earlier than its message was sent, whatever the clocks of two hosts say;
///   - a send that had ended before its receive was posted is not waited for: the recorded back end
///     had buffered it, and another one may not.
/// Then every wait is for something earlier. Throws Failure(Exit::usage), naming `log`, if an end
/// is missing.
Traffic traffic_of(const std::filesystem::path& log, std::vector<Script> ranks,
                   std::uint64_t begin_ns);

/// When each message of a script may begin: after the first `after` messages of `ends` have ended,
/// and then its gap.
struct Order {
  std::vector<std::size_t> ends;       ///< messages that are waited for, in the order they ended
  std::vector<std::size_t> after;      ///< by message
  std::vector<std::uint64_t> gaps_ns;  ///< by message; then the one after the last that ended
};
Order order_of(const Script& script);

/// Reads the run file of a workload with its transfer log, or a dump of the transfer_incoming_log
/// of all Dask workers. From a run file it takes the run of median length of one case, which is
/// named by its key or a part of it; without a name there must be one case. Throws
/// Failure(Exit::usage).
Traffic read_traffic(const std::filesystem::path& log, const std::string& named_case);

/// What is wrong with a log, in one line.
Failure refusal(const std::filesystem::path& log, const std::string& what);

// For each of the two.
Traffic read_recorded_run(const std::filesystem::path& log, const std::string& named_case);
/// {"tcp://10.0.0.1:4000": [{"who": "tcp://10.0.0.2:4000", "start": 12.5, "stop": 12.6, "total":
/// 1000}, …], …}: what each worker received, in seconds and bytes. The receiver asks for it with a
/// message of 8 bytes, as in Dask.
Traffic parse_dask_log(const std::filesystem::path& log, const std::string& text);

}  // namespace ucxbench::replay
