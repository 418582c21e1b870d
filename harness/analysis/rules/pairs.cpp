#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "harness/analysis/rules/impossible.hpp"
#include "harness/analysis/rules/rules.hpp"
#include "harness/core/statistics.hpp"
#include "harness/core/units.hpp"
#include "harness/result/interval.hpp"
#include "harness/result/words.hpp"
#include "harness/topology/path.hpp"

namespace ucxbench {
namespace {

constexpr double much_slower = 0.8;     ///< as the matrix marks it
constexpr std::size_t least_pairs = 4;  ///< of a class, for a median that one pair does not make
const auto* const look_at_links = "look for a slow link: ucx-bench topo";

struct PairRate {
  int src = 0, dst = 0;
  double p25 = 0, p50 = 0, p75 = 0;  ///< GB/s, over its streams
  bool between_hosts = false;
  std::optional<Interval> interval{};  ///< of p50, over launches

  std::string in_words() const { return significant(p50, 3) + interval_behind(interval); }
  std::string arrow() const { return fmt::format("{}->{}", src, dst); }
};

/// Where all pairs send at once, their rates say how they share, not what a link is.
bool alone(const Case& of) { return is_matrix(of) && of.shows.at_once != Concurrent::all; }

// Of three hosts or more, slow-host and slow-link tell which end is at fault.
std::vector<PairRate> rates_of(const Case& of) {
  const auto between = to_string(PathClass{.distance = Distance::net});
  std::vector<PairRate> rates;
  for (const auto& pair : of.pairs) {
    const auto src = number_at(pair, "src");
    const auto dst = number_at(pair, "dst");
    const auto p50 = number_at(pair, "p50_GBps");
    if (!src || !dst || !p50 || !(*p50 > 0) || *src > 1e6 || *dst > 1e6) continue;
    const bool between_hosts = text_at(pair, "/class", "") == between;
    if (between_hosts && !of.sweep.empty()) continue;
    rates.push_back({static_cast<int>(*src), static_cast<int>(*dst),
                     number_at(pair, "p25_GBps").value_or(*p50), *p50,
                     number_at(pair, "p75_GBps").value_or(*p50), between_hosts,
                     interval_at(pair, "p50_GBps")});
  }
  return rates;
}

/// "NET", "NV2", "SYS"; empty where the pair's GPUs are not known.
std::string class_of_pair(const Judged& run, const Case& of, const PairRate& rate) {
  if (rate.between_hosts) return to_string(PathClass{.distance = Distance::net});
  const auto* src = run.rank(of, rate.src);
  const auto* dst = run.rank(of, rate.dst);
  if (src == nullptr || dst == nullptr) return "";
  if (!src->gpu || !dst->gpu) {
    return src->host == dst->host ? "" : to_string(PathClass{.distance = Distance::net});
  }
  return to_string(class_between(run.graph, *src->gpu, *dst->gpu));
}

/// What a message of this case takes longer.
std::optional<double> longer_ms(const Case& of, double slow_GBps, double fast_GBps) {
  const auto bytes = bytes_of(of);
  if (!bytes) return std::nullopt;
  return static_cast<double>(*bytes) * (1 / slow_GBps - 1 / fast_GBps) * 1e-6;
}

}  // namespace

std::vector<Finding> slow_pair(const Judged& run) {
  std::vector<Finding> findings;
  for (const auto& block : run.timed) {
    for (const auto* of : block.measured) {
      if (!alone(*of)) continue;
      std::map<std::string, std::vector<PairRate>> classes;
      for (const auto& rate : rates_of(*of)) classes[class_of_pair(run, *of, rate)].push_back(rate);
      for (auto& [name, rates] : classes) {
        if (rates.size() < least_pairs) continue;
        std::vector<double> medians;
        for (const auto& rate : rates) medians.push_back(rate.p50);
        const auto middle = median(medians);
        std::erase_if(rates,
                      [&](const PairRate& rate) { return rate.p75 >= much_slower * middle; });
        if (rates.empty()) continue;
        const auto& worst = *std::ranges::min_element(rates, {}, &PairRate::p50);
        findings.push_back({.subject = subject_of(block, *of),
                            .evidence = fmt::format(
                                "{} reaches {} GB/s, the median of {}pairs is {}{}", worst.arrow(),
                                worst.in_words(), name.empty() ? "" : name + " ",
                                significant(middle, 3), and_more(rates.size())),
                            .next = look_at_links,
                            .cost_ms = longer_ms(*of, worst.p50, middle)});
      }
    }
  }
  return findings;
}

std::vector<Finding> above_limit(const Judged& run) {
  std::vector<Finding> findings;
  for (const auto& [of, finding] : run.impossible) findings.push_back(finding);
  return findings;
}

std::vector<Finding> asymmetric_pair(const Judged& run) {
  std::vector<Finding> findings;
  for (const auto& block : run.timed) {
    for (const auto* of : block.measured) {
      if (!alone(*of)) continue;
      std::map<std::pair<int, int>, PairRate> by_pair;
      for (const auto& rate : rates_of(*of)) by_pair[{rate.src, rate.dst}] = rate;
      std::size_t count = 0;
      std::pair<PairRate, PairRate> worst;
      for (const auto& [pair, rate] : by_pair) {
        const auto back = by_pair.find({pair.second, pair.first});
        // Apart by more than either's streams are among themselves.
        if (back == by_pair.end() || rate.p75 >= much_slower * back->second.p25) continue;
        const auto ratio = rate.p50 / back->second.p50;
        if (++count > 1 && ratio >= worst.first.p50 / worst.second.p50) continue;
        worst = {rate, back->second};
      }
      if (count == 0) continue;
      const auto& [slow, fast] = worst;
      findings.push_back(
          {.subject = subject_of(block, *of),
           .evidence = fmt::format("{} reaches {} GB/s, {} {}{}", slow.arrow(), slow.in_words(),
                                   fast.arrow(), fast.in_words(), and_more(count)),
           .next = look_at_links,
           .cost_ms = longer_ms(*of, slow.p50, fast.p50)});
    }
  }
  return findings;
}

}  // namespace ucxbench
