#include "harness/result/expected.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <string>
#include <vector>

#include "harness/analysis/rules/rules.hpp"
#include "harness/core/field.hpp"
#include "harness/core/statistics.hpp"
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

/// Whether launches differ by so much that both may be as far from their estimates.
bool may_be_alike(const Expected& below, const Expected& above) {
  const auto times = quotient(above.times_interval(), below.times_interval());
  return times && times->low <= 1 && times->high >= 1;
}

constexpr std::string_view rendezvous_threshold = "UCX_RNDV_THRESH";

/// One side of a threshold: messages of a size as UCX sends them, and as it sends those on the
/// other side.
struct ForcedSide {
  std::string name, value;                   ///< of the setting by which they were forced
  std::vector<double> chosen_us, forced_us;  ///< medians of each launch
};

// Whether a protocol is the one above the threshold, in the words of UCX's tables.
bool is_above(const std::string& name, const std::string& protocol) {
  const auto says = [&](const char* word) { return protocol.find(word) != std::string::npos; };
  return name == rendezvous_threshold ? says("rendezvous") || says("rndv")
                                      : says("zero-copy") || says("zcopy");
}

// Empty where nothing was forced, or UCX did not do as it was told.
std::optional<ForcedSide> forced_side(const Case& of, bool above) {
  ForcedSide side;
  for (const auto& launch : of.launches) {
    const auto chosen = launch.samples.find("latency_us");
    if (chosen == launch.samples.end() || !chosen->second.quantiles.p50) continue;
    for (const auto& row : launch.path.value("protocols", Json::array())) {
      const auto us = number_at(row, "latency_us");
      if (text_at(row, "/use", "") != "forced" || !us || !row.contains("settings")) continue;
      const auto setting = row.at("settings").begin();
      const auto value = text_in(setting.value());
      if ((value == "inf") != above) continue;
      if (is_above(setting.key(), text_at(row, "/protocol", "")) == above) return std::nullopt;
      side.name = setting.key();
      side.value = value;
      side.chosen_us.push_back(*chosen->second.quantiles.p50);
      side.forced_us.push_back(*us);
    }
  }
  return side.forced_us.empty() ? std::nullopt : std::optional(std::move(side));
}

// In every launch, of so many that this is hardly luck, and by a tenth in the median.
bool is_faster(const ForcedSide& side) {
  constexpr std::size_t enough = 5;  // 2^-5 if both were alike
  constexpr double least_gain = 1.1;
  bool always = true;
  std::vector<double> ratios;
  for (std::size_t at = 0; at < side.forced_us.size(); ++at) {
    always = always && side.forced_us[at] < side.chosen_us[at];
    ratios.push_back(side.chosen_us[at] / side.forced_us[at]);
  }
  return always && ratios.size() >= enough && median(ratios) >= least_gain;
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
  for (const auto& block : run.timed) {
    for (const auto* metric : metrics_with_estimates) {
      const auto sizes = by_size(block, metric);
      std::size_t worst = 0;  // none
      double most = std::log(far_off);
      for (std::size_t at = 1; at < sizes.size(); ++at) {
        const auto& below = sizes[at - 1].expected;
        const auto& above = sizes[at].expected;
        if (!below.by_request || !above.by_request || below.protocol == above.protocol) continue;
        const auto off = std::abs(std::log(above.times_as_long() / below.times_as_long()));
        if (off <= most || may_be_alike(below, above)) continue;
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

std::vector<Finding> wrong_threshold(const Judged& run) {
  std::vector<Finding> findings;
  for (const auto& block : run.timed) {
    const auto sizes = by_size(block, "latency_us");
    for (std::size_t at = 1; at < sizes.size(); ++at) {
      const auto& smaller = sizes[at - 1];
      const auto& larger = sizes[at];
      const auto below = forced_side(*smaller.of, false);
      const auto above = forced_side(*larger.of, true);
      if (!below || !above || below->name != above->name || !larger.expected.from) continue;
      const bool too_high = is_faster(*below);
      const bool too_low = is_faster(*above);
      if (too_high == too_low) continue;
      const auto [lower, upper] = below->name == rendezvous_threshold
                                      ? std::array{"eager", "rendezvous"}
                                      : std::array{"copies", "zero-copy"};
      const auto& better = too_high ? *below : *above;
      findings.push_back(
          {.subject = block.title,
           .evidence = fmt::format(
               "threshold {} too {}: {} {} {}, {} {}; {} {}, {}",
               spaced_size(*larger.expected.from), too_high ? "high" : "low", size_of(*smaller.of),
               lower, readable_us(median(below->chosen_us)), upper,
               readable_us(median(below->forced_us)), size_of(*larger.of),
               readable_us(median(above->forced_us)), readable_us(median(above->chosen_us))),
           .next = fmt::format("try {}={}", better.name, better.value)});
    }
  }
  return findings;
}

std::vector<Finding> guessed_speed(const Judged& run) {
  std::vector<Finding> findings;
  std::set<std::string> said;
  for (const auto& block : run.timed) {
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
                                 readable_us(largest->expected.measured) +
                                     time_interval_behind(largest->expected.interval)),
         .next = "run ucx-bench tune pingpong"});
  }
  return findings;
}

}  // namespace ucxbench
