#include <fmt/format.h>

#include <algorithm>

#include "harness/analysis/rules/rules.hpp"
#include "harness/core/units.hpp"
#include "harness/result/interval.hpp"
#include "harness/result/ucx_of_ranks.hpp"
#include "harness/result/words.hpp"

namespace ucxbench {
namespace {

/// A first message is worth a word when it takes that many times as long as later ones, and more
/// above them than the connection took that it went over: whoever starts a process pays for that
/// anyway, and less is lost in it. A first message that was interrupted says nothing of UCX, so
/// that all of so many launches have to agree.
constexpr double times_as_long = 10;
constexpr std::size_t least_launches = 3;

/// In UCX's words: how it sends a message of the latency part; empty where it did not say.
std::string protocol_of(const Case& of) {
  const auto found = of.path.find("protocols");
  if (found == of.path.end() || !found->is_array()) return "";
  for (const auto& row : *found) {
    if (text_at(row, "/use") == "latency") return text_at(row, "/protocol", "");
  }
  return "";
}

bool is_rendezvous(const std::string& protocol) {
  return protocol.find("rendezvous") != std::string::npos;
}

/// Whether `slow` took longer than `fast`, beyond what their launches differ by.
bool surely_slower(const Metric& slow, const Metric& fast) {
  if (!slow.quantiles.p50 || !fast.quantiles.p50) return false;
  const auto of_slow = interval_of(slow);
  const auto of_fast = interval_of(fast);
  if (of_slow && of_fast) return of_slow->low > of_fast->high;
  return *slow.quantiles.p50 > 1.1 * *fast.quantiles.p50;
}

/// "9.61 us (9.37 us..9.80 us)"
std::string latency_of(const Case& of) {
  const auto& metric = of.metrics.at("latency_us");
  return readable_us(*metric.quantiles.p50) + time_interval_behind(interval_of(metric));
}

std::vector<const Case*> by_size(const Block& block) {
  std::vector<const Case*> cases;
  for (const auto* of : block.measured) {
    if (bytes_of(*of) && p50_of(*of, "latency_us")) cases.push_back(of);
  }
  std::ranges::stable_sort(cases, {}, [](const Case* of) { return *bytes_of(*of); });
  return cases;
}

/// By how much the first message of each launch took longer than later ones, at least; empty where
/// that of any launch is as usual, or there are too few.
std::optional<double> first_message_excess_us(const Case& of) {
  const auto later_us = *p50_of(of, "latency_us");
  std::optional<double> least;
  if (of.launches.size() < least_launches) return std::nullopt;
  for (const auto& record : of.launches) {
    const auto& first = record.cold;
    if (!first.first_message_us || !first.connect_us) return std::nullopt;
    const auto excess = *first.first_message_us - later_us;
    const bool usual = *first.first_message_us < times_as_long * later_us;
    if (usual || excess <= *first.connect_us) return std::nullopt;
    least = std::min(least.value_or(excess), excess);
  }
  return least;
}

}  // namespace

std::vector<Finding> memlock(const Judged& run) {
  const auto problem = text_at(run.result.ucx, "/lockable_problem", "");
  if (problem.empty()) return {};
  return {{.subject = "auto",
           .evidence = "UCX cannot use InfiniBand, and its attempts disturb the run: " + problem,
           .next = "allow it: ulimit -l unlimited"}};
}

std::vector<Finding> several_ucx(const Judged& run) {
  const auto differing = differing_ucx(run.result);
  if (differing.empty()) return {};
  return {{.subject = "ranks",
           .evidence = "their UCX differs: " + differing,
           .next = "give all of them one version with the same modules"}};
}

std::vector<LateRendezvous> late_rendezvous(const Judged& run) {
  std::vector<LateRendezvous> late;
  for (const auto& block : run.timed) {
    const auto cases = by_size(block);
    const auto first =
        std::ranges::find_if(cases, [](const Case* of) { return is_rendezvous(protocol_of(*of)); });
    if (first == cases.end()) continue;
    const auto& fast = (*first)->metrics.at("latency_us");
    std::vector<const Case*> slower;
    for (auto at = cases.begin(); at != first; ++at) {
      if (!protocol_of(**at).empty() && surely_slower((*at)->metrics.at("latency_us"), fast)) {
        slower.push_back(*at);
      }
    }
    if (slower.empty()) continue;
    const auto worst = *std::ranges::max_element(
        slower, {}, [](const Case* of) { return *p50_of(*of, "latency_us"); });
    late.push_back({.title = block.title,
                    .worst = worst,
                    .first = *first,
                    .from_bytes = *bytes_of(*slower.front()),
                    .cost_us = *p50_of(*worst, "latency_us") - *fast.quantiles.p50});
  }
  return late;
}

std::vector<Finding> eager_too_long(const Judged& run) {
  std::vector<Finding> findings;
  for (const auto& [title, worst, first, from_bytes, cost_us] : late_rendezvous(run)) {
    findings.push_back(
        {.subject = title,
         .evidence = fmt::format("{} takes {} ({}), {} only {} (rendezvous)", size_of(*worst),
                                 latency_of(*worst), protocol_of(*worst), size_of(*first),
                                 latency_of(*first)),
         .next = fmt::format("set --ucx UCX_RNDV_THRESH={}", from_bytes),
         .cost_ms = cost_us * 1e-3});
  }
  return once_for_sets(std::move(findings));
}

std::vector<Finding> slow_first_message(const Judged& run) {
  std::vector<Finding> findings;
  for (const auto& block : run.timed) {
    const Case* worst = nullptr;
    double most_us = 0;
    for (const auto* of : by_size(block)) {
      const auto excess = first_message_excess_us(*of);
      if (!excess || *excess <= most_us) continue;
      most_us = *excess;
      worst = of;
    }
    if (worst == nullptr) continue;
    const auto later_us = *p50_of(*worst, "latency_us");
    const bool pool = !is_set(worst->parameters, "no_pool");
    findings.push_back({.subject = block.title,
                        .evidence = fmt::format(
                            "every first message of {} takes {} or more, later ones {}",
                            size_of(*worst), readable_us(later_us + most_us), latency_of(*worst)),
                        .next = pool ? "see ucx-bench cold" : "reuse buffers; see ucx-bench cold",
                        .cost_ms = most_us * 1e-3});
  }
  return once_for_sets(std::move(findings));
}

}  // namespace ucxbench
