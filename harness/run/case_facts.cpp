#include "harness/run/case_facts.hpp"

#include <algorithm>

#include "harness/memory/buffer.hpp"
#include "harness/run/proof_record.hpp"

namespace ucxbench {

Json case_facts(const Checks& checks, const Json& counted) {
  return {{"checks", to_json(checks)},
          {"counted", counted},
          {"peak_buffer_bytes", peak_buffer_bytes()}};
}

CaseFacts facts_of_all(const std::vector<Json>& ranks) {
  CaseFacts all;
  std::vector<Json> counted;
  for (const auto& rank : ranks) {
    all.checks.add(parse_checks(rank.at("checks")));
    counted.push_back(rank.at("counted"));
    all.peak_buffer_bytes =
        std::max(all.peak_buffer_bytes, rank.at("peak_buffer_bytes").get<std::uint64_t>());
  }
  all.counted = counted_by_all(counted);
  return all;
}

}  // namespace ucxbench
