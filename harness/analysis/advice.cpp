#include "harness/analysis/advice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "harness/analysis/answers.hpp"
#include "harness/analysis/rules/judged.hpp"
#include "harness/analysis/rules/rules.hpp"
#include "harness/core/failure.hpp"
#include "harness/core/statistics.hpp"
#include "harness/core/text.hpp"
#include "harness/core/units.hpp"
#include "harness/result/words.hpp"
#include "harness/topology/path.hpp"
#include "harness/topology/placement.hpp"

namespace ucxbench {
namespace {

constexpr const char* how_to_give_one =
    "give one with --topology FILE (what ucx-bench topo --format json, nvidia-smi topo -m or "
    "lstopo wrote)";

/// Empty where no setting ends the finding. UCX takes streams over few transports, whatever is set,
/// and what cases with labels show is no advice.
std::optional<Lever> lever_for(const Json& finding, const Judged& run) {
  const auto found = std::ranges::find(remedies(), text_at(finding, "/id"), &Remedy::rule);
  if (found == remedies().end()) return std::nullopt;
  const auto block = std::ranges::find(run.blocks, text_at(finding, "/subject"), &Block::title);
  if (block == run.blocks.end()) return found->lever;
  const auto advises = [&](const Case* of) { return may_advise(run, *of); };
  if (std::ranges::none_of(block->cases, advises)) return std::nullopt;
  const bool stream = text_at(block->cases.front()->parameters, "/api") == "stream";
  if (found->lever == Lever::transports && stream) return std::nullopt;
  return found->lever;
}

/// Network devices without a port, which are for TCP, stay: but for the loopback, by which no
/// other host is reached.
std::string with_nic(const std::string& devices, const std::string& nic) {
  std::vector<std::string> names;
  for (const auto name : split_text(devices, ',')) {
    const bool kept = name != "all" && name != "lo" && name.find(':') == std::string_view::npos;
    if (!name.empty() && kept) {
      names.emplace_back(name);
    }
  }
  names.push_back(nic);
  return join(names, ",");
}

void place_ranks(Advice& advice, const DataPlaces& data, bool with_nics) {
  const auto usable = [&](std::size_t nic) {
    return with_nics && may_carry(advice.graph, nic) &&
           !ucx_device_of(advice.graph.nodes[nic]).empty();
  };
  const auto nics = nearest_nic_each(advice.graph, data, usable);
  const auto cpus = cpus_near(advice.graph, data);
  for (std::size_t at = 0; at < advice.ranks.size(); ++at) {
    auto& rank = advice.ranks[at];
    rank.cpus = cpus[at];
    rank.nic = nics[at];
    rank.net_devices =
        rank.nic ? with_nic(rank.net_devices, ucx_device_of(advice.graph.nodes[*rank.nic])) : "";
  }
}

DataPlaces advised_data(const Advice& advice, bool beside_nics) {
  auto data = spread_over_numa(advice.graph, advice.ranks.size(), beside_nics);
  for (std::size_t at = 0; at < data.size(); ++at) {
    if (advice.ranks[at].gpu) data[at] = advice.ranks[at].gpu;
  }
  return data;
}

const Json* record_of(const Judged& run, int rank) {
  for (const auto& record : run.result.ranks) {
    if (number_at(record, "rank") == rank) return &record;
  }
  return nullptr;
}

/// A rank that has a GPU which the topology lacks was on another machine.
void check_gpu(const PlacedRank& rank, const Json& record) {
  const auto device = record.find("device");
  if (rank.gpu || device == record.end() || !device->is_object()) return;
  throw Failure(Exit::usage,
                fmt::format("the topology does not match the run: it has no GPU {} ({}), which "
                            "rank {} had; {}",
                            text_at(*device, "/index"), text_at(*device, "/pci", "address unknown"),
                            rank.rank, how_to_give_one));
}

std::string setting_for(Lever lever, const AdvisedRank* rank, const Advice& advice) {
  const auto name = std::string(name_of(levers, lever));
  switch (lever) {
    case Lever::net_devices:
      if (rank != nullptr) return rank->net_devices.empty() ? "" : name + "=" + rank->net_devices;
      return advice.names_nics() ? name + ", one NIC for each rank" : "";
    case Lever::cpus:
      if (rank != nullptr) return rank->cpus.empty() ? "" : "CPUs " + format_list(rank->cpus);
      return advice.labels.empty() ? "CPUs of its own for each rank" : "";
    case Lever::transports:
    case Lever::rendezvous:
    case Lever::pool: {
      const auto* decision = advice.of(lever);
      return decision == nullptr ? "" : setting_of(*decision);
    }
  }
  return "";
}

void add_settings(Advice& advice, const Judged& run) {
  const auto findings = findings_of(run.result);
  std::map<std::string, const AdvisedRank*> ranks;
  for (const auto& rank : advice.ranks) {
    if (const auto* placed = run.rank(rank.rank)) ranks[placed->name(run.graph)] = &rank;
  }
  for (const auto& finding : findings) {
    const auto subject = text_at(finding, "/subject");
    const auto rank = ranks.find(subject);
    const auto lever = lever_for(finding, run);
    advice.settings.push_back(
        {.rule = text_at(finding, "/id"),
         .subject = subject,
         .evidence = text_at(finding, "/evidence"),
         .setting =
             lever ? setting_for(*lever, rank == ranks.end() ? nullptr : rank->second, advice) : "",
         .next = text_at(finding, "/next")});
  }
}

/// The labels that keep all of a run's cases from advising; none where one may.
std::vector<std::string> labels_of_all(const Judged& run) {
  std::vector<std::string> labels;
  for (const auto& of : run.result.cases) {
    if (of.state != CaseState::measured || is_canary(of)) continue;
    if (may_advise(run, of)) return {};
    for (const auto& label : labels_against_advice(run, of)) add_once(labels, label);
  }
  return labels;
}

}  // namespace

std::span<const Remedy> remedies() {
  static constexpr std::array all = {Remedy{"far-nic", Lever::net_devices},
                                     Remedy{"several-nics", Lever::net_devices},
                                     Remedy{"port-down", Lever::net_devices},
                                     Remedy{"far-cpus", Lever::cpus},
                                     Remedy{"lost-cpus", Lever::cpus},
                                     Remedy{"not-pinned", Lever::cpus},
                                     Remedy{"nvlink-unused", Lever::transports},
                                     Remedy{"wrong-transport", Lever::transports},
                                     Remedy{"mixed-transport", Lever::transports},
                                     Remedy{"eager-too-long", Lever::rendezvous},
                                     Remedy{"slow-first-message", Lever::pool}};
  return all;
}

const Decision* Advice::of(Lever lever) const {
  const auto found = std::ranges::find(decisions, lever, &Decision::lever);
  return found == decisions.end() ? nullptr : &*found;
}

std::map<std::string, std::string> Advice::ucx() const {
  std::map<std::string, std::string> variables;
  for (const auto& decision : decisions) {
    const bool of_ucx = decision.lever == Lever::transports || decision.lever == Lever::rendezvous;
    if (!of_ucx || decision.value.empty() || decision.why_not != WhyNot::nothing) continue;
    variables.emplace(name_of(levers, decision.lever), decision.value);
  }
  return variables;
}

bool Advice::names_nics() const {
  return std::ranges::any_of(ranks, [](const auto& rank) { return rank.nic.has_value(); });
}

Graph topology_of(const Result& run) {
  auto graph = Judged(run).graph;
  if (!graph.nodes.empty()) return graph;
  throw Failure(Exit::usage, fmt::format("the run has no topology; {}", how_to_give_one));
}

Advice advise(const Graph& topology, std::vector<std::size_t> gpus) {
  Advice advice;
  advice.graph = topology;
  if (gpus.empty()) gpus = topology.of_kind(NodeKind::gpu);
  for (const auto gpu : gpus) {
    advice.ranks.push_back({.rank = static_cast<int>(advice.ranks.size()), .gpu = gpu});
  }
  if (!advice.ranks.empty()) {
    place_ranks(advice, advised_data(advice, true), true);
    return advice;
  }
  DataPlaces numas;
  for (const auto numa : topology.of_kind(NodeKind::numa)) {
    advice.ranks.push_back({.rank = static_cast<int>(numas.size())});
    numas.emplace_back(numa);
  }
  place_ranks(advice, numas, true);
  return advice;
}

Advice advise(Result run, const std::optional<Graph>& topology) {
  if (topology) run.topology = to_json(*topology);
  Advice advice;
  advice.graph = topology_of(run);
  const Judged judged(run);
  const auto host = text_at(run.machine, "/hosts/0/name", "");
  std::set<std::string> hosts = {host};
  for (const auto& placed : judged.ranks) {
    hosts.insert(placed.host);
    if (placed.host != host) continue;
    const auto* record = record_of(judged, placed.rank);
    check_gpu(placed, *record);
    const auto devices = record->find("net_devices");
    advice.ranks.push_back(
        {.rank = placed.rank,
         .gpu = placed.gpu,
         .net_devices = devices == record->end() ? "" : join(texts_of(*devices), ",")});
  }
  advice.labels = labels_of_all(judged);
  if (advice.ranks.empty()) {
    advice = advise(judged.graph);
  } else if (advice.labels.empty()) {
    const bool ib = measured_infiniband(judged);
    place_ranks(advice, advised_data(advice, ib), ib);
  } else {
    for (auto& rank : advice.ranks) rank.net_devices.clear();
  }
  advice.host = host;
  advice.hosts = hosts.size();
  advice.all_ranks = judged.ranks.size();
  advice.decisions = decisions_of(judged);
  add_settings(advice, judged);
  advice.spoiled = judged.spoiled;
  add_bandwidths(judged, advice);
  advice.answers = answers_of(judged);
  return advice;
}

}  // namespace ucxbench
