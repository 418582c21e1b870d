#include "harness/analysis/rules/impossible.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "harness/analysis/rules/physical.hpp"
#include "harness/core/units.hpp"
#include "harness/result/labels.hpp"
#include "harness/result/words.hpp"

namespace ucxbench {
namespace {

/// A time or a rate below what can be, in words; empty if there is none.
std::string impossibly_little(const Judged& run, const Case& of) {
  for (const auto& record : of.launches) {
    const auto say = [&](const std::string& metric, double least, const std::string& why) {
      return fmt::format("{} of {}->{} is {}, {}", metric, record.src, record.dst,
                         significant(least, 3), why);
    };
    for (const auto& [metric, samples] : record.samples) {
      const auto& least = samples.quantiles.min;
      if (!least) continue;
      const bool is_time = metric == "latency_us" || metric == "wall_ms";
      if (*least < 0 || (is_time && *least == 0)) {
        return say(metric, *least, "which cannot be");
      }
      // A message that takes t carries bytes / t.
      if (metric != "latency_us") continue;
      const auto limit = physical_limit(run, of, record, metric_named("bandwidth_GBps"));
      const auto bytes = static_cast<double>(bytes_of(of).value_or(0));
      if (!limit || bytes <= *least * limit->most * 1e3) continue;
      return say(
          metric, *least,
          fmt::format("below {}: {}", significant(bytes / limit->most * 1e-3, 3), limit->why));
    }
  }
  return "";
}

/// Of a workload: parts that are more than their whole, in words; empty if there are none.
std::string impossible_parts(const Case& of) {
  constexpr double rounding = 0.001;
  const auto impossible = [](double share) { return share < -rounding || share > 1 + rounding; };
  for (const auto& record : of.launches) {
    if (!record.workload.is_object()) continue;  // a damaged file
    const auto exchange = record.workload.value("exchange", Json::object());
    const auto overlap = number_at(exchange, "overlap");
    if (overlap && impossible(*overlap)) {
      return fmt::format("launch {}: {} of the exchange is overlapped", record.launch,
                         share_text(*overlap));
    }
    for (const auto& phase : record.workload.value("phases", Json::array())) {
      const auto share = number_at(phase, "share");
      if (!share || !impossible(*share)) continue;
      return fmt::format("launch {}: {} is {} of a run", record.launch, text_at(phase, "/name"),
                         share_text(*share));
    }
  }
  return "";
}

/// The rate that is furthest above what can be, in words; empty if there is none.
std::string impossible_rate(const Judged& run, const Case& of) {
  double worst = 1;
  std::string words;
  for (const auto& record : of.launches) {
    const auto look = [&](const std::string& what, const ShownMetric& metric,
                          const std::optional<double>& most) {
      const auto limit = most ? physical_limit(run, of, record, metric) : std::nullopt;
      if (!limit || *most <= worst * limit->most) return;
      worst = *most / limit->most;
      words = fmt::format("{} is {}, above {}: {}", what, significant(most, 3),
                          significant(limit->most, 3), limit->why);
    };
    for (const auto& [metric, samples] : record.samples) {
      look(fmt::format("{} of {}->{}", metric, record.src, record.dst), shown_metric(of, metric),
           samples.quantiles.max);
    }
    if (!record.workload.is_object()) continue;  // a damaged file
    look("alone_GBps", shown_metric(of, "exchange_GBps"),
         number_at(record.workload.value("exchange", Json::object()), "alone_GBps"));
    for (const auto& pair : record.workload.value("pairs", Json::array())) {
      for (const auto* rate : {"p50_GBps", "goodput_GBps"}) {
        look(fmt::format("{} of {}->{}", rate, text_at(pair, "/src"), text_at(pair, "/dst")),
             metric_named("bandwidth_GBps"), number_at(pair, rate));
      }
    }
  }
  return words;
}

/// The pair that is furthest above the peak of its path, in words; empty if there is none.
std::string impossible_pair(const Case& of) {
  // The links of emulated GPUs are made up.
  if (has_label(of, Label::emulated_gpu)) return "";
  std::size_t count = 0;
  double worst = 1;
  std::string words;
  for (const auto& pair : of.pairs) {
    const auto rate = number_at(pair, "p50_GBps");
    const auto limit = number_at(pair, "limit_GBps");
    if (!rate || !limit || *rate <= *limit) continue;
    ++count;
    if (*rate / *limit <= worst) continue;
    worst = *rate / *limit;
    words = fmt::format("{}->{} reaches {} GB/s, the peak of its path is {}", text_at(pair, "/src"),
                        text_at(pair, "/dst"), significant(rate, 3), significant(limit, 3));
  }
  return words + and_more(count);
}

}  // namespace

std::string subject_of(const Block& block, const Case& of) {
  return fmt::format("{}, {}", block.title, size_of(of));
}

std::string and_more(std::size_t pairs) {
  return pairs > 1 ? fmt::format(" ({} such pairs)", pairs) : "";
}

std::vector<std::pair<const Case*, Finding>> impossible_in(const Judged& run) {
  std::vector<std::pair<const Case*, Finding>> all;
  const auto add = [&](const Block& block, const Case* of, const std::string& evidence,
                       const char* next) {
    if (evidence.empty()) return;
    all.emplace_back(
        of, Finding{.subject = subject_of(block, *of), .evidence = evidence, .next = next});
  };
  for (const auto& block : run.timed) {
    for (const auto* of : block.measured) {
      add(block, of, impossible_pair(*of),
          "discard these figures; check ucx-bench topo, report a bug");
    }
    for (const auto* of : block.measured) {
      for (const auto& evidence :
           {impossible_rate(run, *of), impossibly_little(run, *of), impossible_parts(*of)}) {
        add(block, of, evidence, "discard these figures, report a bug");
      }
    }
  }
  return all;
}

}  // namespace ucxbench
