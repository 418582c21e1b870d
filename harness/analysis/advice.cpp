#include "harness/analysis/advice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

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

/// What dask-cuda lets a worker use of its GPU before it spills (device_memory_limit).
constexpr double pool_share = 0.8;
constexpr std::uint64_t GiB = 1ULL << 30U;

constexpr const char* how_to_give_one =
    "give one with --topology FILE (what ucx-bench topo --format json, nvidia-smi topo -m or "
    "lstopo wrote)";

/// Empty where no setting ends the finding. UCX takes streams over few transports, whatever is set.
std::optional<Lever> lever_for(const Json& finding, const Judged& run) {
  const auto found = std::ranges::find(remedies(), text_at(finding, "/id"), &Remedy::rule);
  if (found == remedies().end()) return std::nullopt;
  const auto block = std::ranges::find(run.blocks, text_at(finding, "/subject"), &Block::title);
  const bool stream =
      block != run.blocks.end() && text_at(block->cases.front()->parameters, "/api") == "stream";
  if (found->lever == Lever::transports && stream) return std::nullopt;
  return found->lever;
}

/// Network devices without a port, which are for TCP: they stay.
std::string with_nic(const std::string& devices, const std::string& nic) {
  std::vector<std::string> names;
  for (const auto name : split_text(devices, ',')) {
    if (!name.empty() && name != "all" && name.find(':') == std::string_view::npos) {
      names.emplace_back(name);
    }
  }
  names.push_back(nic + ":1");
  return join(names, ",");
}

/// What UCX calls an adapter; empty where its source does not say, and for a network interface,
/// which has no port. "NIC3" is nvidia-smi's own number, of which its legend has the name.
std::string device_of(const Node& nic) {
  const auto& name = nic.name.starts_with("NIC") ? nic.alias : nic.name;
  const bool interface = name.starts_with("eth") || name.starts_with("en");
  return is_device_name(name) && !interface ? name : "";
}

void place_ranks(Advice& advice, const DataPlaces& data, bool with_nics) {
  const auto usable = [&](std::size_t nic) {
    return with_nics && may_carry(advice.graph, nic) && !device_of(advice.graph.nodes[nic]).empty();
  };
  const auto nics = nearest_nic_each(advice.graph, data, usable);
  const auto cpus = cpus_near(advice.graph, data);
  for (std::size_t at = 0; at < advice.ranks.size(); ++at) {
    auto& rank = advice.ranks[at];
    rank.cpus = cpus[at];
    rank.nic = nics[at];
    if (!rank.nic) continue;
    rank.net_devices = with_nic(rank.net_devices, device_of(advice.graph.nodes[*rank.nic]));
    advice.infiniband = true;
  }
  for (const auto& a : advice.ranks) {
    for (const auto& b : advice.ranks) {
      advice.nvlink |= a.gpu && b.gpu && *a.gpu != *b.gpu &&
                       class_between(advice.graph, *a.gpu, *b.gpu).distance == Distance::nvlink;
    }
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

/// In whole GiB, of the smallest GPU.
std::optional<std::uint64_t> pool_of(const Judged& run) {
  std::optional<double> least;
  for (const auto& record : run.result.ranks) {
    const auto device = record.find("device");
    if (device == record.end() || !device->is_object()) continue;
    const auto bytes = number_at(*device, "memory_bytes");
    if (bytes && *bytes > 0 && (!least || *bytes < *least)) least = bytes;
  }
  if (!least) return std::nullopt;
  const auto whole = static_cast<std::uint64_t>(*least * pool_share) / GiB * GiB;
  return whole == 0 ? std::nullopt : std::optional(whole);
}

/// All but TCP, which took the place of what was asked for.
std::string transports_of(const Advice& advice) {
  std::string tls = "self,sm";
  const bool gpus =
      std::ranges::any_of(advice.ranks, [](const auto& rank) { return rank.gpu.has_value(); });
  if (gpus) tls += ",cuda_copy";
  if (advice.nvlink) tls += ",cuda_ipc";
  if (advice.infiniband) tls += ",rc";
  return tls;
}

std::string setting_for(Lever lever, const AdvisedRank* rank, const Advice& advice) {
  const auto of_all = [&](const std::string& name) {
    const auto found = advice.ucx.find(name);
    return found == advice.ucx.end() ? "" : name + "=" + found->second;
  };
  switch (lever) {
    case Lever::net_devices:
      if (rank != nullptr) {
        return rank->net_devices.empty() ? "" : "UCX_NET_DEVICES=" + rank->net_devices;
      }
      return advice.infiniband ? "UCX_NET_DEVICES, one NIC for each rank" : "";
    case Lever::cpus:
      if (rank != nullptr) return rank->cpus.empty() ? "" : "CPUs " + format_list(rank->cpus);
      return "CPUs of its own for each rank";
    case Lever::transports:
      return of_all("UCX_TLS");
    case Lever::rendezvous:
      return of_all("UCX_RNDV_THRESH");
    case Lever::pool:
      return advice.pool_bytes ? "a pool of " + rough_size(*advice.pool_bytes)
                               : "a memory pool (reuse buffers)";
  }
  return "";
}

void add_common(Advice& advice, const Judged& run, const Json& findings) {
  for (const auto& finding : findings) {
    // Other hosts may be within reach of TCP alone.
    const bool others_reached = advice.elsewhere == 0 || advice.infiniband;
    if (lever_for(finding, run) == Lever::transports && others_reached) {
      advice.ucx["UCX_TLS"] = transports_of(advice);
    }
  }
  const auto late = late_rendezvous(run);
  if (late.empty()) return;
  const auto worst = std::ranges::max_element(late, {}, &LateRendezvous::cost_us);
  advice.ucx["UCX_RNDV_THRESH"] = std::to_string(worst->from_bytes);
}

void add_settings(Advice& advice, const Judged& run) {
  const auto findings = shown_findings(run.result);
  add_common(advice, run, findings);
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

bool uses_infiniband(const Result& run) {
  return std::ranges::any_of(run.cases, [](const Case& of) { return asks_for(of, "ib"); });
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
  for (const auto& placed : judged.ranks) {
    if (placed.host != host) {
      ++advice.elsewhere;
      continue;
    }
    const auto* record = record_of(judged, placed.rank);
    check_gpu(placed, *record);
    const auto devices = record->find("net_devices");
    advice.ranks.push_back(
        {.rank = placed.rank,
         .gpu = placed.gpu,
         .net_devices = devices == record->end() ? "" : join(texts_of(*devices), ",")});
  }
  if (advice.ranks.empty()) {
    advice = advise(judged.graph);
  } else {
    const bool ib = uses_infiniband(run);
    place_ranks(advice, advised_data(advice, ib), ib);
  }
  advice.host = host;
  advice.pool_bytes = pool_of(judged);
  add_settings(advice, judged);
  add_bandwidths(run, advice);
  advice.answers = answers_of(run);
  return advice;
}

}  // namespace ucxbench
