#pragma once

// What the cases of a run are, and which of them belong together.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harness/result/result.hpp"

namespace ucxbench {

/// The cases that differ only in what tells rows apart (size, peers, buffers): one table.
struct Block {
  std::string title;                  ///< "pingpong tag, host to host, over tcp"
  std::vector<const Case*> cases;     ///< all of them, in the run's order
  std::vector<const Case*> measured;  ///< those with metrics
};

/// Of all but the canaries.
std::vector<Block> blocks_of(const Result& result);

std::optional<std::uint64_t> bytes_of(const Case& of);  ///< the message size, where there is one

/// The same as "1 MiB", of a workload "4 ranks", or "-".
std::string size_of(const Case& of);

/// Adds a label that is not among them yet.
void add_label(std::vector<std::string>& labels, const std::string& label);

/// Whether it is a case of a workload, which has runs; such cases differ in the number of ranks
/// instead of the size.
bool is_workload(const Case& of);

/// Whether it is a case of p2p: a rate for every ordered pair of ranks.
bool is_matrix(const Case& of);

/// Messages leave and reach memory of this kind: "host", "cuda".
bool of_memory(const Case& of, const char* memory);

double ranks_of(const Case& of);  ///< 1 where it does not say

/// "4 ranks".
std::string ranks_in_words(const Case& of);

/// The parameter, "rows" or "size", that follows from the number of ranks because the case says how
/// it is scaled; empty if it does not.
std::string scaled_amount(const Case& of);

/// How much slower the loop with timestamps was than the one without, if both were run.
std::optional<double> timed_over_untimed(const LaunchRecord& record);

}  // namespace ucxbench
