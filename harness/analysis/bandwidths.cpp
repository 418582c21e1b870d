// Of advice: what a run has measured between its ranks.

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "harness/analysis/advice.hpp"
#include "harness/core/statistics.hpp"
#include "harness/result/cases.hpp"
#include "harness/result/labels.hpp"
#include "harness/result/media.hpp"
#include "harness/result/paths.hpp"
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

using HostsOfRanks = std::map<int, std::string>;

/// Empty where the host of one of them is not known.
std::optional<bool> is_between_hosts(const HostsOfRanks& hosts, const Json& pair) {
  const auto src = hosts.find(static_cast<int>(number_at(pair, "src").value_or(-1)));
  const auto dst = hosts.find(static_cast<int>(number_at(pair, "dst").value_or(-1)));
  if (src == hosts.end() || dst == hosts.end()) return std::nullopt;
  return src->second != dst->second;
}

/// Of pairs of either kind, by whether they are between hosts.
std::map<bool, std::vector<double>> pair_rates(const Result& result, const Case& of) {
  const auto hosts = hosts_of_ranks(result, of);
  std::map<bool, std::vector<double>> rates;
  for (const auto& pair : of.pairs) {
    const auto rate = number_at(pair, "p50_GBps");
    const auto between = is_between_hosts(hosts, pair);
    if (rate && between) rates[*between].push_back(*rate);
  }
  return rates;
}

/// Of the largest messages of each block that UCX carried, the one whose pairs' median is highest:
/// that of pairs between hosts, if any case has such.
const Case* fastest(const Judged& run) {
  const Case* best = nullptr;
  std::pair<bool, double> best_rate;  // of the network before any other
  for (const auto& block : run.blocks) {
    const Case* largest = nullptr;
    for (const auto* of : block.measured) {
      const auto bytes = bytes_of(*of);
      if (!by_ucx(*of) || !may_advise(run, *of)) continue;
      if (!bytes || *bytes < large_message || pair_rates(run.result, *of).empty()) continue;
      if (largest == nullptr || *bytes > *bytes_of(*largest)) largest = of;
    }
    if (largest == nullptr) continue;
    const auto rates = pair_rates(run.result, *largest);
    const auto& [between, of_pairs] = *rates.rbegin();
    const std::pair rate(between, median(of_pairs));
    if (best != nullptr && rate <= best_rate) continue;
    best_rate = rate;
    best = largest;
  }
  return best;
}

std::string memory_in_words(const Case& of) {
  auto kinds = texts_of(of.parameters.value("memory", Json::array()));
  if (!kinds.empty() && kinds.front() == kinds.back()) kinds.resize(1);
  return join(kinds, " to ");
}

using RanksOfPairs = std::set<std::pair<int, int>>;

std::optional<Interval> interval_over_launches(const Case& of, const RanksOfPairs& pairs) {
  std::map<int, std::vector<double>> launches;
  for (const auto& record : of.launches) {
    const auto samples = record.samples.find("bandwidth_GBps");
    if (samples == record.samples.end() || !pairs.contains({record.src, record.dst})) continue;
    if (const auto& p50 = samples->second.quantiles.p50) launches[record.launch].push_back(*p50);
  }
  std::vector<double> medians;
  for (auto& [launch, rates] : launches) medians.push_back(median(std::move(rates)));
  return interval_over(std::move(medians));
}

}  // namespace

void add_bandwidths(const Judged& run, Advice& advice) {
  const auto* of = fastest(run);
  if (of == nullptr) return;
  const auto hosts = hosts_of_ranks(run.result, *of);
  advice.measured = of->key;
  const auto carriers = carriers_in_words(of->path);
  const auto labels = join(labels_of(run.result, *of), ", ");
  advice.measured_how = carriers.empty() ? "" : "by " + carriers;
  if (!labels.empty()) {
    advice.measured_how += (carriers.empty() ? "labels: " : "; labels: ") + labels;
  }
  std::map<std::pair<bool, std::string>, std::vector<double>> by_class;
  std::map<std::pair<bool, std::string>, RanksOfPairs> ranks_by_class;
  for (const auto& pair : of->pairs) {
    const auto rate = number_at(pair, "p50_GBps");
    const auto between = is_between_hosts(hosts, pair);
    if (!rate || !between) continue;
    const std::pair about(*between, *between ? "" : class_between_ranks(advice, pair));
    by_class[about].push_back(*rate);
    ranks_by_class[about].emplace(static_cast<int>(number_at(pair, "src").value_or(-1)),
                                  static_cast<int>(number_at(pair, "dst").value_or(-1)));
  }
  for (const auto& [about, rates] : by_class) {
    advice.classes.push_back({.path_class = about.second,
                              .pairs = rates.size(),
                              .p50_GBps = median(rates),
                              .between_hosts = about.first,
                              .memory = memory_in_words(*of),
                              .interval = interval_over_launches(*of, ranks_by_class.at(about))});
  }
}

std::optional<double> network_GBps(const Advice& advice) {
  const auto found = std::ranges::find(advice.classes, true, &ClassBandwidth::between_hosts);
  return found == advice.classes.end() ? std::nullopt : std::optional(found->p50_GBps);
}

Json bandwidths_of(const Result& run, const Advice& advice) {
  Json rows = Json::array();
  const Judged judged(run);
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
      row["labels"] = labels_against_advice(judged, of);
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
