#include "harness/analysis/limits/calibration.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "harness/analysis/limits/carriers.hpp"
#include "harness/analysis/limits/class_rates.hpp"
#include "harness/core/statistics.hpp"
#include "harness/core/units.hpp"
#include "harness/result/cases.hpp"
#include "harness/result/labels.hpp"
#include "harness/result/transports.hpp"
#include "harness/result/words.hpp"
#include "harness/topology/path.hpp"

namespace ucxbench {
namespace {

bool one_pair_alone(const Case& of) { return is_matrix(of) && of.shows.at_once == Concurrent::one; }

std::string source_by(const Case& of, const GpuPair& pair) {
  const auto& ranks = of.pairs[pair.pair];
  return fmt::format("{} of this run, ranks {} to {}, {} over {}, alone", of.benchmark,
                     text_at(ranks, "/src"), text_at(ranks, "/dst"), size_of(of), pair.carrier);
}

bool by_links_alone(const GpuPair& pair) {
  const auto fabric = fabric_of(pair.carrier);
  return pair.flow && (fabric == Fabric::gpu_links || fabric == Fabric::rdma);
}

/// NVLinks side by side share what crosses them.
void raise_capacity(Graph& graph, const SharedResource& resource, double GBps,
                    const std::string& source) {
  int count = 0;
  for (const auto index : resource.links) count += graph.links[index].count;
  for (const auto index : resource.links) {
    auto& link = graph.links[index];
    const auto own = GBps * link.count / count;
    if (link.calibrated_GBps && *link.calibrated_GBps >= own) continue;
    link.calibrated_GBps = own;
    link.calibrated_by = source;
  }
}

void calibrate_from(const Case& of, const Result& result, Graph& graph) {
  for (const auto& pair : gpu_pairs(of, result, graph)) {
    const auto rate = number_at(of.pairs[pair.pair], "p50_GBps");
    if (!by_links_alone(pair) || !rate || *rate <= 0) continue;
    const auto limits = limits_of(graph, {*pair.flow});
    const auto& peak = limits.flows.front().alone_GBps;
    // The links of emulated GPUs are made up.
    if (peak && *rate > *peak && !has_label(of, Label::emulated_gpu)) continue;
    for (const auto& [index, part] : limits.flows.front().uses) {
      raise_capacity(graph, limits.resources[index], *rate * part, source_by(of, pair));
    }
  }
}

struct CalibratedRow {
  const CalibratedLimit* first = nullptr;
  bool one_source = true;
  std::vector<double> limits{}, shares{};
  std::vector<const Json*> pairs{};  ///< in Case::pairs
};

Json row_of(const CalibratedRow& row, const Case& of) {
  const auto& first = *row.first;
  const auto detail = first.detail + (row.one_source ? "" : ", and others likewise");
  const auto median_or_null = [](const std::vector<double>& values) {
    return values.empty() ? Json() : Json(median(values));
  };
  Json json = {{"class", first.pair_class},  {"path", first.path},
               {"GBps", median(row.limits)}, {"complete", first.complete},
               {"source", "calibrated"},     {"detail", detail},
               {"expected_GBps", nullptr},   {"share_GBps", median_or_null(row.shares)},
               {"resource", first.resource}, {"pairs", row.limits.size()}};
  put_class_rates(of, row.pairs, json);
  return json;
}

}  // namespace

void calibrate_links(Graph& graph, const Result& result) {
  for (auto& link : graph.links) {
    link.calibrated_GBps.reset();
    link.calibrated_by.clear();
  }
  for (const auto& of : result.cases) {
    if (one_pair_alone(of) && !is_time_sliced(of)) calibrate_from(of, result, graph);
  }
}

void add_calibrated(Case& of, const std::vector<CalibratedLimit>& limits) {
  std::map<std::tuple<std::string, std::string, bool>, CalibratedRow> rows;
  for (const auto& limit : limits) {
    auto& pair = of.pairs[limit.pair];
    pair["calibrated_GBps"] = limit.GBps;
    if (limit.share_GBps) pair["calibrated_share_GBps"] = *limit.share_GBps;
    auto& row = rows[{limit.pair_class, limit.path, limit.complete}];
    if (row.first == nullptr) row.first = &limit;
    row.one_source &= row.first->detail == limit.detail;
    row.limits.push_back(limit.GBps);
    if (limit.share_GBps) row.shares.push_back(*limit.share_GBps);
    row.pairs.push_back(&pair);
  }
  for (const auto& [key, row] : rows) of.limits.push_back(row_of(row, of));
}

void add_calibrated_exchange(Case& of, const std::vector<Flow>& flows, const Limits& limits) {
  const auto GBps = together_GBps(flows, limits);
  if (flows.size() != of.pairs.size() || !GBps) return;
  const auto& by = limits.resources[*limits.bottleneck];
  if (!by.calibrated) return;
  of.exchange["calibrated_GBps"] = *GBps;
  of.exchange["calibrated_by"] = by.name + ": " + by.source;
}

void add_calibrated_links(Case& of, const std::vector<GpuPair>& pairs, const Graph& graph,
                          bool all) {
  std::vector<const GpuPair*> known;
  std::vector<Flow> flows;
  for (const auto& pair : pairs) {
    if (!pair.flow) continue;
    known.push_back(&pair);
    flows.push_back(*pair.flow);
  }
  const auto limits = limits_of(graph, flows, Basis::calibration);
  if (is_exchange(of)) return add_calibrated_exchange(of, flows, limits);
  const bool with_shares = all && flows.size() == of.pairs.size();
  const auto shares =
      with_shares ? fair_shares(flows, limits) : std::vector<std::optional<double>>(flows.size());
  std::vector<CalibratedLimit> found;
  for (std::size_t i = 0; i < known.size(); ++i) {
    const auto& limit = limits.flows[i];
    const auto* by = limit.alone_by ? &limits.resources[*limit.alone_by] : nullptr;
    if (by == nullptr || !by->calibrated) continue;
    if (one_pair_alone(of) && by->source == source_by(of, *known[i])) continue;
    found.push_back({.pair = known[i]->pair,
                     .GBps = *limit.alone_GBps,
                     .share_GBps = shares[i],
                     .complete = limit.complete,
                     .pair_class = to_string(class_between(graph, known[i]->from, known[i]->to)),
                     .path = known[i]->carrier,
                     .resource = by->name,
                     .detail = by->source});
  }
  add_calibrated(of, found);
}

}  // namespace ucxbench
