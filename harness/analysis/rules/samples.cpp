#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "harness/analysis/asked.hpp"
#include "harness/analysis/rules/modes.hpp"
#include "harness/analysis/rules/rules.hpp"
#include "harness/core/statistics.hpp"
#include "harness/core/units.hpp"
#include "harness/result/interval.hpp"
#include "harness/result/words.hpp"

namespace ucxbench {
namespace {

constexpr double wide = 0.10;             ///< of the median: wider is hard to compare
constexpr double far_apart = 0.25;        ///< the same of a range, which one slow launch makes wide
constexpr double timing_distorts = 0.01;  ///< the promised agreement of timed and untimed means

/// How many cases of a run trip a check, and the worst of them.
struct Tally {
  std::size_t cases = 0;
  std::size_t tripped = 0;
  double worst = 0;
  std::string where;

  void add(double value, double limit, const Case& of) {
    ++cases;
    if (!(value > limit)) return;
    ++tripped;
    if (value <= worst) return;
    worst = value;
    where = fmt::format("{} over {}", size_of(of), text_at(of.parameters, "/transports", "?"));
  }
};

std::string at_most(const Tally& tally) {
  return fmt::format("{:.{}f} % ({}; {} of {} cases)", 100 * tally.worst, tally.worst < 0.1 ? 1 : 0,
                     tally.where, tally.tripped, tally.cases);
}

/// "bandwidth_bidirectional_GBps" → "bandwidth bidirectional".
std::string metric_in_words(const std::string& metric) {
  auto words = metric.substr(0, metric.rfind('_'));
  std::replace(words.begin(), words.end(), '_', ' ');
  return words;
}

/// Of the launches in which a case has two modes: what they are, as medians.
struct CaseModes {
  std::size_t launches = 0;
  std::size_t with_modes = 0;
  Modes modes{};
};

CaseModes modes_of_case(const Case& of) {
  CaseModes found;
  std::vector<double> low;
  std::vector<double> high;
  std::vector<double> share;
  for (const auto& record : of.launches) {
    const auto samples = record.samples.find("latency_us");
    if (samples == record.samples.end()) continue;
    ++found.launches;
    const auto modes = two_modes_of(samples->second.values);
    if (!modes) continue;
    ++found.with_modes;
    low.push_back(modes->low);
    high.push_back(modes->high);
    share.push_back(modes->share_high);
  }
  if (found.with_modes > 0) found.modes = {median(low), median(high), median(share)};
  return found;
}

}  // namespace

std::vector<Finding> wide_interval(const Judged& run) {
  // Of less than nine launches an interval is their range, whatever it is called.
  std::map<std::string, Tally> of_many;
  std::map<std::string, Tally> of_few;
  for (const auto& of : run.result.cases) {
    for (const auto& [name, metric] : of.metrics) {
      const auto& p50 = metric.quantiles.p50;
      const auto interval = interval_of(metric);
      // A message rate is the bandwidth in other units.
      if (!interval || !p50 || *p50 <= 0 || name.ends_with("_per_s")) continue;
      const bool many = metric.launch_medians.size() >= least_for_inner_ci95;
      (many ? of_many : of_few)[metric_in_words(name)].add((interval->high - interval->low) / *p50,
                                                           many ? wide : far_apart, of);
    }
  }
  std::vector<Finding> findings;
  const auto add = [&](const std::map<std::string, Tally>& tallies, const char* what) {
    std::vector<std::string> tripped;
    for (const auto& [name, tally] : tallies) {
      if (tally.tripped > 0) tripped.push_back(name + " up to " + at_most(tally));
    }
    if (tripped.empty()) return;
    findings.push_back({.subject = "run",
                        .evidence = what + join(tripped, ", "),
                        .next = "close other programs, use dedicated cores, or " +
                                more_launches_in_words(run.result)});
  };
  add(of_many, "wide 95 % intervals: ");
  add(of_few, "launches far apart: ");
  return findings;
}

namespace {

bool measures_bandwidth(const Case& of) {
  const auto measured = of.parameters.find("measure");
  return is_matrix(of) || (measured != of.parameters.end() &&
                           std::ranges::find(*measured, Json("bandwidth")) != measured->end());
}

}  // namespace

std::vector<Finding> short_streams(const Judged& run) {
  std::vector<Finding> findings;
  const auto add = [&](const Block& block, const Case& of, std::string evidence) {
    findings.push_back({.subject = block.title + ", " + size_of(of),
                        .evidence = std::move(evidence),
                        .next = "raise --iterations; use no more ranks than CPUs"});
  };
  for (const auto& block : run.blocks) {
    for (const auto* of : block.measured) {
      const bool streams = measures_bandwidth(*of);
      std::size_t without = 0;
      std::vector<double> common_ms;
      std::vector<double> span_ms;
      for (const auto& record : of->launches) {
        // Atomic operations have a rate and no bandwidth.
        without += streams && !record.samples.contains("bandwidth_GBps") &&
                           !record.samples.contains("message_rate_per_s")
                       ? 1
                       : 0;
        const auto common = record.overheads.find("streams_common_ms");
        const auto span = record.overheads.find("streams_span_ms");
        if (common == record.overheads.end() || span == record.overheads.end()) continue;
        common_ms.push_back(common->second);
        span_ms.push_back(span->second);
      }
      if (without > 0) {
        add(block, *of,
            fmt::format("no rate for {} of {}: streams are shorter than 50 clock steps", without,
                        counted(of->launches.size(), "stream")));
      }
      if (span_ms.empty() || of->metrics.contains("together_GBps")) continue;
      add(block, *of,
          fmt::format("no total for all pairs: their streams overlapped for only {} of {} ms",
                      significant(median(common_ms), 3), significant(median(span_ms), 3)));
    }
  }
  return findings;
}

std::vector<Finding> timing_cost(const Judged& run) {
  Tally tally;
  for (const auto& of : run.result.cases) {
    std::vector<double> ratios;
    for (const auto& record : of.launches) {
      if (const auto ratio = timed_over_untimed(record)) ratios.push_back(*ratio);
    }
    if (!ratios.empty()) tally.add(std::abs(median(ratios) - 1), timing_distorts, of);
  }
  if (tally.tripped == 0) return {};
  return {{.subject = "run",
           .evidence = "timer overhead or noise up to " + at_most(tally) +
                       ": the timed and the untimed loop differ by that",
           .next = "use dedicated cores, or " + more_launches_in_words(run.result)}};
}

std::vector<Finding> few_launches(const Judged& run) {
  std::optional<std::size_t> fewest;
  for (const auto& block : run.blocks) {
    std::size_t most = 0;
    for (const auto* of : block.measured) {
      for (const auto& [name, metric] : of->metrics) {
        most = std::max(most, metric.launch_medians.size());
      }
    }
    if (!block.measured.empty()) fewest = std::min(most, fewest.value_or(most));
  }
  if (!fewest || *fewest >= least_for_ci95) return {};
  return {{.subject = "run",
           .evidence = counted(*fewest, "launch gives", "launches give") + " no 95 % interval",
           .next = "use " + launches_in_words(run.result, "6 or more")}};
}

std::vector<Finding> two_modes(const Judged& run) {
  std::vector<Finding> findings;
  for (const auto& block : run.timed) {
    CaseModes worst;
    const Case* where = nullptr;
    for (const auto* of : block.measured) {
      const auto found = modes_of_case(*of);
      if (2 * found.with_modes < found.launches || found.with_modes == 0) continue;
      const auto ratio = found.modes.high / found.modes.low;
      if (where != nullptr && ratio <= worst.modes.high / worst.modes.low) continue;
      worst = found;
      where = of;
    }
    if (where == nullptr) continue;
    findings.push_back(
        {.subject = block.title,
         .evidence = fmt::format(
             "latency of {} has two modes, {} and {} ({:.0f} %, {} of {} launches)",
             size_of(*where), readable_us(worst.modes.low), readable_us(worst.modes.high),
             100 * worst.modes.share_high, worst.with_modes, worst.launches),
         .next = "see ucx-bench doctor",
         .cost_ms = (worst.modes.high - worst.modes.low) * worst.modes.share_high * 1e-3});
  }
  return once_for_sets(std::move(findings));
}

}  // namespace ucxbench
