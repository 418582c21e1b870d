#include <fmt/format.h>

#include <algorithm>

#include "harness/analysis/rules/rules.hpp"
#include "harness/core/statistics.hpp"
#include "harness/core/units.hpp"
#include "harness/result/interval.hpp"
#include "harness/result/words.hpp"

namespace ucxbench {
namespace {

/// A first message is worth a word when it takes that many times as long as later ones …
constexpr double times_as_long = 10;
constexpr double least_us = 100;  ///< … and so much longer

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

std::vector<const Case*> by_size(const Block& block) {
  std::vector<const Case*> cases;
  for (const auto* of : block.measured) {
    if (bytes_of(*of) && p50_of(*of, "latency_us")) cases.push_back(of);
  }
  std::ranges::stable_sort(cases, {}, [](const Case* of) { return *bytes_of(*of); });
  return cases;
}

std::optional<double> first_message_us(const Case& of) {
  std::vector<double> values;
  for (const auto& record : of.launches) {
    if (record.cold.first_message_us) values.push_back(*record.cold.first_message_us);
  }
  return values.empty() ? std::nullopt : std::optional(median(values));
}

}  // namespace

std::vector<Finding> memlock(const Judged& run) {
  const auto problem = text_at(run.result.ucx, "/lockable_problem", "");
  if (problem.empty() || !may_use_ucx(run)) return {};
  return {{.subject = "auto",
           .evidence = "UCX cannot use InfiniBand, and its attempts disturb the run: " + problem,
           .next = "allow it: ulimit -l unlimited"}};
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
                                 readable_us(*p50_of(*worst, "latency_us")), protocol_of(*worst),
                                 size_of(*first), readable_us(*p50_of(*first, "latency_us"))),
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
      if (!by_ucx(*of)) continue;
      const auto first_us = first_message_us(*of);
      const auto later_us = *p50_of(*of, "latency_us");
      if (!first_us || *first_us < times_as_long * later_us || *first_us < later_us + least_us)
        continue;
      if (*first_us - later_us <= most_us) continue;
      most_us = *first_us - later_us;
      worst = of;
    }
    if (worst == nullptr) continue;
    findings.push_back(
        {.subject = block.title,
         .evidence = fmt::format("first message of {} takes {}, later ones {}", size_of(*worst),
                                 readable_us(*first_message_us(*worst)),
                                 readable_us(*p50_of(*worst, "latency_us"))),
         .next = "reuse buffers; see ucx-bench cold",
         .cost_ms = most_us * 1e-3});
  }
  return once_for_sets(std::move(findings));
}

}  // namespace ucxbench
