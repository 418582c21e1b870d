#include "harness/result/expected.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <string>
#include <vector>

#include "harness/analysis/rules/rules.hpp"
#include "harness/core/units.hpp"
#include "harness/result/words.hpp"

namespace ucxbench {
namespace {

/// UCX chooses between two protocols by the ratio of their estimates. A ratio that is wrong by less
/// is not reported.
constexpr double far_off = 2;

constexpr std::array metrics_with_estimates = {"latency_us", "bandwidth_GBps"};

/// One size, with what UCX expected.
struct SizeExpected {
  const Case* of;
  std::uint64_t bytes;
  Expected expected;
};

std::vector<SizeExpected> by_size(const Block& block, const char* metric) {
  std::vector<SizeExpected> all;
  for (const auto* of : block.measured) {
    const auto bytes = bytes_of(*of);
    auto expected = expected_of(*of, metric);
    if (bytes && expected) all.push_back({of, *bytes, std::move(*expected)});
  }
  std::ranges::stable_sort(all, {}, &SizeExpected::bytes);
  return all;
}

// "eager" and "rendezvous" where the two differ in that: tables have the protocols in full.
std::array<std::string, 2> short_names(const std::string& below, const std::string& above) {
  const auto kind = [](const std::string& protocol) {
    for (const auto* word : {"rendezvous", "eager"}) {
      if (protocol.find(word) != std::string::npos) return std::string(word);
    }
    return protocol;
  };
  if (kind(below) == kind(above)) return {below, above};
  return {kind(below), kind(above)};
}

}  // namespace

std::vector<Finding> far_estimate(const Judged& run) {
  std::vector<Finding> findings;
  for (const auto& block : run.blocks) {
    for (const auto* metric : metrics_with_estimates) {
      const auto sizes = by_size(block, metric);
      std::size_t worst = 0;  // none
      double most = std::log(far_off);
      for (std::size_t at = 1; at < sizes.size(); ++at) {
        const auto& below = sizes[at - 1].expected;
        const auto& above = sizes[at].expected;
        if (!below.by_request || !above.by_request || below.protocol == above.protocol) continue;
        const auto off = std::abs(std::log(above.times_as_long() / below.times_as_long()));
        if (off <= most) continue;
        most = off;
        worst = at;
      }
      if (worst == 0) continue;
      const auto& below = sizes[worst - 1].expected;
      const auto& above = sizes[worst].expected;
      const auto [lower, upper] = short_names(below.protocol, above.protocol);
      findings.push_back(
          {.subject =
               fmt::format("{}, {}", block.title, shown_metric(*sizes[worst].of, metric).title),
           .evidence = fmt::format("takes {} x UCX's estimate below {} ({}), {} x above ({})",
                                   significant(below.times_as_long(), 2),
                                   spaced_size(above.from.value_or(sizes[worst].bytes)), lower,
                                   significant(above.times_as_long(), 2), upper),
           .next = "run ucx-bench tune pingpong"});
    }
  }
  return findings;
}

std::vector<Finding> guessed_speed(const Judged& run) {
  std::vector<Finding> findings;
  std::set<std::string> said;
  for (const auto& block : run.blocks) {
    const SizeExpected* largest = nullptr;
    const auto sizes = by_size(block, "latency_us");
    for (const auto& size : sizes) {
      if (!texts_of(size.of->path.value("speed_unknown", Json())).empty()) largest = &size;
    }
    if (largest == nullptr) continue;
    const auto lanes = join(texts_of(largest->of->path.at("speed_unknown")), ", ");
    if (!said.insert(lanes).second) continue;
    findings.push_back(
        {.subject = lanes,
         .evidence = fmt::format("no speed in /sys/class/net, so UCX assumes 100 Mbit/s: it "
                                 "expects {} for {}, measured {}",
                                 readable_us(largest->expected.expected), size_of(*largest->of),
                                 readable_us(largest->expected.measured)),
         .next = "run ucx-bench tune pingpong"});
  }
  return findings;
}

}  // namespace ucxbench
