#pragma once

#include <cstdint>
#include <vector>

#include "harness/core/json.hpp"
#include "harness/run/checks.hpp"
#include "harness/transports/counters.hpp"

namespace ucxbench {

/// What a rank tells rank 0 of a case beside its figures: {"checks", "counted",
/// "peak_buffer_bytes"}. `counted` is of counted_here, or null.
Json case_facts(const Checks& checks, const Json& counted);

/// The same of all ranks.
struct CaseFacts {
  Checks checks{};
  Counters counted{};                   ///< by the devices of all hosts (counted_by_all)
  std::uint64_t peak_buffer_bytes = 0;  ///< of the rank that had most
};
CaseFacts facts_of_all(const std::vector<Json>& ranks);

}  // namespace ucxbench
