#include "harness/analysis/rules/physical.hpp"

#include <algorithm>

#include "harness/result/words.hpp"

namespace ucxbench {
namespace {

constexpr double most_messages_per_s = 200e6;
constexpr double most_stored_GBps = 400;

/// GB/s; empty where a cable's capacity, or an adapter, is not known.
std::optional<double> cables_GBps(const Graph& graph, const std::vector<std::size_t>& nics) {
  double sum = 0;
  for (const auto nic : nics) {
    const auto cable = std::ranges::find_if(graph.links, [&](const Link& link) {
      return link.from == nic && link.link_class == LinkClass::network && link.specified_GBps;
    });
    if (cable == graph.links.end()) return std::nullopt;
    sum += *cable->specified_GBps;
  }
  return nics.empty() ? std::nullopt : std::optional(sum);
}

/// GB/s from one rank to another.
std::optional<PhysicalLimit> one_way(const Judged& run, const Case& of,
                                     const LaunchRecord& record) {
  std::optional<PhysicalLimit> limit;
  const auto take = [&](double most, const char* why) {
    if (!limit || most < limit->most) limit = {most, why};
  };
  const auto threads = threads_in(of.parameters);
  if (at_place(of, "host")) take(threads * most_stored_GBps, "a core stores at most 64 B a cycle");
  if (const auto bytes = bytes_of(of); bytes) {
    take(threads * most_messages_per_s * static_cast<double>(*bytes) * 1e-9,
         "at most 200 M messages/s");
  }
  const auto carried = record.path.value("carried_by", Json::object());
  if (number_at(carried, "ib").value_or(0) >= 0.95 && !is_workload(of)) {
    if (const auto cables = cables_GBps(run.graph, ib_nics(run, record))) {
      take(*cables, "the NIC's cables carry no more");
    }
  }
  return limit;
}

}  // namespace

std::optional<PhysicalLimit> physical_limit(const Judged& run, const Case& of,
                                            const LaunchRecord& record, const std::string& metric) {
  if (metric == "message_rate_per_s") {
    return PhysicalLimit{threads_in(of.parameters) * most_messages_per_s,
                         "at most 200 M messages/s"};
  }
  auto limit = metric.ends_with("_GBps") && metric != "throughput_GBps" ? one_way(run, of, record)
                                                                        : std::nullopt;
  if (!limit) return limit;
  if (metric == "bandwidth_bidirectional_GBps") limit->most *= 2;
  // Every pair of p2p, and every rank of a workload, which receives at most that.
  if (metric == "together_GBps") limit->most *= static_cast<double>(of.pairs.size());
  if (metric == "exchange_GBps") limit->most *= ranks_of(of);
  return limit;
}

}  // namespace ucxbench
