#pragma once

// What the cases of a run are, and which of them belong together.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "harness/result/result.hpp"

namespace ucxbench {

/// The cases that differ only in their axes: one table.
struct Block {
  std::string title;                  ///< "pingpong tag, host to host, over tcp"
  std::vector<const Case*> cases;     ///< all of them, in the run's order
  std::vector<const Case*> measured;  ///< those with metrics

  ViewKind kind() const { return cases.front()->shows.kind; }
};

/// Of all but the canaries.
std::vector<Block> blocks_of(const Result& result);

/// Null where the case has no such axis.
const AxisValue* axis_of(const Case& of, const std::string& name);

std::optional<std::uint64_t> bytes_of(const Case& of);  ///< the message size, where it is an axis

/// What its row is called by, its first axis: "1 MiB", of a workload "4 ranks"; or "-".
std::string size_of(const Case& of);

/// All axes but those that follow from another: "4 ranks, size 4096", "1 MiB, one pair".
std::string row_of(const Case& of);

/// Adds a text, such as a label or a lane, that is not among them yet.
void add_once(std::vector<std::string>& texts, const std::string& text);

bool is_workload(const Case& of);
bool is_matrix(const Case& of);
bool is_canary(const Case& of);

bool by_ucx(const Case& of);  ///< its messages, and not by another communication device

/// Messages leave and reach memory of this kind: "host", "cuda:async".
bool of_memory(const Case& of, const char* memory);

/// Where memory of a kind is: "cuda" of "cuda:async".
std::string place_of_memory(const std::string& kind);

/// Messages leave and reach memory of this place, "host" or "cuda", of whatever kind.
bool at_place(const Case& of, const char* place);

double ranks_of(const Case& of);  ///< 1 where it does not say

/// The median of a metric; empty where the case has none.
std::optional<double> p50_of(const Case& of, const char* metric);

/// "4 ranks".
std::string ranks_in_words(const Case& of);

/// What the case says of a metric, else what its name says.
ShownMetric shown_metric(const Case& of, const std::string& name);

/// Whether caches may hold both buffers of a message of so many bytes: those that were copied in
/// them on a host (`by_size` of its `memory_copy`) are as large.
bool may_stay_in_caches(const Json& host, double message_bytes);

/// The ranks of a case as Result::ranks has them. Where that has a rank on another host, as another
/// case of the run did, no more than its host is known.
std::vector<Json> ranks_of_case(const Result& result, const Case& of);

/// By rank, the name of its host; of a case, which may differ from another case's.
std::map<int, std::string> hosts_of_ranks(const Result& result, const Case& of);
std::map<int, std::string> hosts_of_ranks(const Result& result);

/// How much slower the loop with timestamps was than the one without, if both were run.
std::optional<double> timed_over_untimed(const LaunchRecord& record);

}  // namespace ucxbench
