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

/// UCX chooses between two protocols by the ratio of their estimates: that ratio may be wrong by so
/// much before it is worth a word.
constexpr double far_off = 2;

constexpr std::array metrics_with_estimates = {"latency_us", "bandwidth_GBps"};

/// One size, and what UCX expected of it.
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

std::string in_words(const SizeExpected& size) {
  return fmt::format("{} ({}) takes {} times as long as expected", size_of(*size.of),
                     size.expected.protocol, significant(size.expected.times_as_long(), 2));
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
      const auto& above = sizes[worst];
      const auto from = above.expected.from.value_or(above.bytes);
      findings.push_back(
          {.subject = fmt::format("{}, {}", block.title, shown_metric(*above.of, metric).title),
           .evidence = fmt::format("{}, {}: UCX changes the protocol at {} by estimates of which "
                                   "one is {} times as wrong as the other",
                                   in_words(sizes[worst - 1]), in_words(above), spaced_size(from),
                                   significant(std::exp(most), 2)),
           .next = "measure the other protocol: ucx-bench ab, --new-env UCX_RNDV_THRESH=SIZE"});
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
         .evidence = fmt::format("the device does not say its speed, so UCX takes 100 Mbit/s: it "
                                 "expects {} for {}, which takes {}",
                                 readable_us(largest->expected.expected), size_of(*largest->of),
                                 readable_us(largest->expected.measured)),
         .next =
             "choose protocols by measuring: ucx-bench ab, --new-env UCX_RNDV_SCHEME=put_zcopy"});
  }
  return findings;
}

}  // namespace ucxbench
