#include "harness/analysis/rules/physical.hpp"

#include <algorithm>

#include "harness/result/media.hpp"
#include "harness/result/paths.hpp"
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

PhysicalLimit messages_per_s(const Case& of) {
  return {threads_in(of.parameters) * most_messages_per_s, "at most 200 M messages/s"};
}

/// GB/s from one rank to another.
std::optional<PhysicalLimit> one_way(const Judged& run, const Case& of,
                                     const LaunchRecord& record) {
  std::optional<PhysicalLimit> limit;
  const auto take = [&](double most, const std::string& why) {
    if (!limit || most < limit->most) limit = {most, why};
  };
  if (at_place(of, "host")) {
    take(threads_in(of.parameters) * most_stored_GBps, "a core stores at most 64 B a cycle");
  }
  if (const auto bytes = bytes_of(of); bytes) {
    const auto messages = messages_per_s(of);
    take(messages.most * static_cast<double>(*bytes) * 1e-9, messages.why);
  }
  if (share_over(Fabric::rdma, record.path) >= 0.95 && !is_workload(of)) {
    if (const auto cables = cables_GBps(run.graph, ib_nics(run, of, record))) {
      take(*cables, "the NIC's cables carry no more");
    }
  }
  return limit;
}

/// How many such a rate adds up.
double ways_of(const Case& of, SumOf sum) {
  switch (sum) {
    case SumOf::one_way:
      return 1;
    case SumOf::both_ways:
      return 2;
    case SumOf::pairs:
      return static_cast<double>(of.pairs.size());
    case SumOf::ranks:
      return ranks_of(of);
    case SumOf::none:
      break;
  }
  return 0;
}

}  // namespace

std::optional<PhysicalLimit> physical_limit(const Judged& run, const Case& of,
                                            const LaunchRecord& record, const ShownMetric& metric) {
  const auto ways = ways_of(of, metric.sum_of);
  std::optional<PhysicalLimit> limit;
  if (ways > 0 && metric.unit == "GB/s") limit = one_way(run, of, record);
  if (ways > 0 && metric.unit == "1/s") limit = messages_per_s(of);
  if (limit) limit->most *= ways;
  return limit;
}

}  // namespace ucxbench
