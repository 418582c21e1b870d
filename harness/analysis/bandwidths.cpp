// Of advice: what a run has measured between its ranks.

#include <algorithm>
#include <map>

#include "harness/analysis/advice.hpp"
#include "harness/core/statistics.hpp"
#include "harness/result/cases.hpp"
#include "harness/result/words.hpp"
#include "harness/topology/path.hpp"

namespace ucxbench {
namespace {

/// Below, a rate says more of latency.
constexpr std::uint64_t large_message = 1U << 20U;

const AdvisedRank* advised_rank(const Advice& advice, const std::optional<double>& number) {
  const auto found = std::ranges::find_if(
      advice.ranks, [&](const AdvisedRank& rank) { return number && rank.rank == *number; });
  return found == advice.ranks.end() ? nullptr : &*found;
}

Json device_name(const Advice& advice, const AdvisedRank* rank) {
  return rank != nullptr && rank->gpu ? Json(advice.graph.nodes[*rank->gpu].name) : Json();
}

/// Empty between ranks without GPUs.
std::string class_between_ranks(const Advice& advice, const Json& pair) {
  const auto* src = advised_rank(advice, number_at(pair, "src"));
  const auto* dst = advised_rank(advice, number_at(pair, "dst"));
  if (src == nullptr || dst == nullptr || !src->gpu || !dst->gpu) return "";
  return to_string(class_between(advice.graph, *src->gpu, *dst->gpu));
}

std::vector<double> pair_rates(const Case& of) {
  std::vector<double> rates;
  for (const auto& pair : of.pairs) {
    if (const auto rate = number_at(pair, "p50_GBps")) rates.push_back(*rate);
  }
  return rates;
}

/// Of the largest messages of each block, the one whose pairs' median is highest.
const Case* fastest(const Result& run) {
  const Case* best = nullptr;
  double best_GBps = 0;
  for (const auto& block : blocks_of(run)) {
    const Case* largest = nullptr;
    for (const auto* of : block.measured) {
      const auto bytes = bytes_of(*of);
      if (!may_advise(run, *of)) continue;
      if (!bytes || *bytes < large_message || pair_rates(*of).empty()) continue;
      if (largest == nullptr || *bytes > *bytes_of(*largest)) largest = of;
    }
    if (largest == nullptr) continue;
    const auto GBps = median(pair_rates(*largest));
    if (GBps <= best_GBps) continue;
    best_GBps = GBps;
    best = largest;
  }
  return best;
}

}  // namespace

void add_bandwidths(const Result& run, Advice& advice) {
  const auto* of = fastest(run);
  if (of == nullptr) return;
  advice.measured = of->key;
  const auto hosts = hosts_of_ranks(run);
  const auto host_at = [&](const Json& pair, const char* end) {
    const auto found = hosts.find(static_cast<int>(number_at(pair, end).value_or(-1)));
    return found == hosts.end() ? std::string() : found->second;
  };
  std::map<std::string, std::vector<double>> by_class;
  for (const auto& pair : of->pairs) {
    if (const auto rate = number_at(pair, "p50_GBps")) {
      by_class[class_between_ranks(advice, pair)].push_back(*rate);
      advice.between_hosts |= host_at(pair, "src") != host_at(pair, "dst");
    }
  }
  for (const auto& [path_class, rates] : by_class) {
    advice.classes.push_back({path_class, rates.size(), median(rates)});
  }
}

std::optional<double> bandwidth_of_all_GBps(const Advice& advice) {
  std::vector<double> medians;
  for (const auto& of : advice.classes) medians.push_back(of.p50_GBps);
  return medians.empty() ? std::nullopt : std::optional(median(medians));
}

Json bandwidths_of(const Result& run, const Advice& advice) {
  Json rows = Json::array();
  for (const auto& of : run.cases) {
    if (is_canary(of)) continue;
    for (const auto& pair : of.pairs) {
      if (!number_at(pair, "p50_GBps")) continue;
      const auto* src = advised_rank(advice, number_at(pair, "src"));
      const auto* dst = advised_rank(advice, number_at(pair, "dst"));
      const auto path_class = class_between_ranks(advice, pair);
      Json row = {{"src", pair.value("src", Json())}, {"dst", pair.value("dst", Json())}};
      row["src_device"] = device_name(advice, src);
      row["dst_device"] = device_name(advice, dst);
      row["class"] = text_or_null(path_class);
      row["memory"] = of.parameters.value("memory", Json());
      row["transports"] = of.parameters.value("transports", Json());
      row["carried_by"] = of.path.value("carried_by", Json());
      row["labels"] = labels_against_advice(run, of);
      const auto bytes = bytes_of(of);
      row["bytes"] = number_or_null(bytes);
      for (const auto* name : {"p25_GBps", "p50_GBps", "p75_GBps"}) {
        row[name] = number_or_null(number_at(pair, name));
      }
      row["case"] = of.key;
      rows.push_back(std::move(row));
    }
  }
  return {{"run", run.run.value("id", Json())},
          {"host", advice.host},
          {"unit", "GB/s (1e9 bytes/s), received, one way, of the pair"},
          {"bandwidths", rows}};
}

}  // namespace ucxbench
