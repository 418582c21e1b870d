#include "harness/analysis/rules/judged.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "harness/analysis/rules/impossible.hpp"
#include "harness/analysis/wired_hosts.hpp"
#include "harness/core/failure.hpp"
#include "harness/core/text.hpp"
#include "harness/core/units.hpp"
#include "harness/result/interval.hpp"
#include "harness/result/labels.hpp"
#include "harness/result/media.hpp"
#include "harness/result/paths.hpp"
#include "harness/result/words.hpp"
#include "harness/topology/path.hpp"

namespace ucxbench {
namespace {

Graph graph_of(const Result& result) {
  try {
    return graph_of_hosts(result);
  } catch (const Failure&) {
    return {};  // older, imported by hand, or not known
  }
}

std::vector<int> cpus_of(const Json& rank) {
  const auto found = rank.find("cpus");
  std::vector<int> cpus;
  if (found == rank.end()) return cpus;
  if (found->is_string()) {
    try {
      cpus = parse_list(found->get<std::string>());
    } catch (const Failure&) {
    }
  } else if (found->is_array()) {
    for (const auto& cpu : *found) {
      if (cpu.is_number_integer()) cpus.push_back(cpu.get<int>());
    }
  }
  std::sort(cpus.begin(), cpus.end());
  return cpus;
}

std::optional<std::size_t> known_node(std::size_t node) {
  return node == Node::none ? std::nullopt : std::optional(node);
}

std::optional<std::size_t> gpu_of(const Json& rank, const std::string& host, const Graph& graph) {
  const auto device = rank.find("device");
  if (device == rank.end() || !device->is_object()) return std::nullopt;
  const auto pci = normal_pci(text_at(*device, "/pci", ""));
  const auto by_pci = known_node(find_pci_on(graph, host, pci));
  // Of an imported topology that has no addresses.
  const auto gpu =
      by_pci ? by_pci : known_node(find_name_on(graph, host, "GPU" + text_at(*device, "/index")));
  return gpu && graph.nodes[*gpu].kind == NodeKind::gpu ? gpu : std::nullopt;
}

void add_named_nic(const std::string& device, const std::string& host, const Graph& graph,
                   std::vector<std::size_t>& nics) {
  const auto nic = find_nic_on(graph, host, device);
  if (nic != Node::none && std::find(nics.begin(), nics.end(), nic) == nics.end()) {
    nics.push_back(nic);
  }
}

std::vector<std::size_t> bound_nics(const Json& rank, const std::string& host, const Graph& graph) {
  std::vector<std::size_t> nics;
  const auto found = rank.find("net_devices");
  if (found == rank.end()) return nics;
  for (const auto& names : texts_of(*found)) {
    for (const auto name : split_text(names, ',')) {
      add_named_nic(std::string(name), host, graph, nics);
    }
  }
  return nics;
}

std::vector<Block> timed_only(std::vector<Block> blocks) {
  for (auto& block : blocks) {
    std::erase_if(block.measured, [](const Case* of) { return is_time_sliced(*of); });
  }
  return blocks;
}

}  // namespace

std::string PlacedRank::name(const Graph& graph) const {
  return gpu ? fmt::format("rank {} ({}){}", rank, own_name(graph.nodes[*gpu]), on_host)
             : fmt::format("rank {}{}", rank, on_host);
}

Judged::Judged(const Result& of)
    : result(of),
      blocks(blocks_of(of)),
      timed(timed_only(blocks)),
      graph(graph_of(of)),
      used(used_by(of, graph)) {
  const bool several_hosts = hosts_of(*this).size() > 1;
  for (const auto& rank : result.ranks) {
    const auto number = number_at(rank, "rank");
    if (!number || *number < 0 || *number > 1e6) continue;
    PlacedRank placed{.rank = static_cast<int>(*number),
                      .host = text_at(rank, "/host"),
                      .on_host = {},
                      .cpus = cpus_of(rank),
                      .gpu = gpu_of(rank, text_at(rank, "/host"), graph),
                      .bound_nics = bound_nics(rank, text_at(rank, "/host"), graph)};
    if (several_hosts) placed.on_host = " on " + placed.host;
    ranks.push_back(std::move(placed));
  }
  impossible = impossible_in(*this);
  for (const auto& block : blocks) {
    for (const auto* measured : block.measured) {
      if (auto words = no_bytes_in_words(*measured); !words.empty()) {
        no_bytes.emplace(measured, std::move(words));
      }
    }
  }
  for (auto& block : timed) {
    std::erase_if(block.measured, [&](const Case* measured) {
      const auto flaw = flaw_of(*measured);
      return flaw == Flaw::impossible || (flaw == Flaw::no_bytes && !is_matrix(*measured));
    });
  }
  spoiled = spoiled_sets(*this);
}

const Finding* Judged::impossibility_of(const Case& of) const {
  const auto found =
      std::ranges::find(impossible, &of, [](const auto& entry) { return entry.first; });
  return found == impossible.end() ? nullptr : &found->second;
}

std::optional<Flaw> Judged::flaw_of(const Case& of) const {
  const auto flaw = ucxbench::flaw_of(of);
  if (flaw && *flaw != Flaw::interrupted) return flaw;
  if (impossibility_of(of) != nullptr) return Flaw::impossible;
  if (no_bytes.contains(&of)) return Flaw::no_bytes;
  if (is_time_sliced(of)) return Flaw::time_sliced;
  return flaw;
}

bool Judged::leaves_out(const Case& of) const {
  const auto flaw = flaw_of(of);
  return flaw && *flaw != Flaw::interrupted;
}

std::string Judged::in_words(Flaw flaw, const Case& of) const {
  const auto* finding = flaw == Flaw::impossible ? impossibility_of(of) : nullptr;
  return finding == nullptr ? ucxbench::in_words(flaw, of) : "impossible, " + finding->evidence;
}

bool Judged::labelled(const std::string& label) const {
  const auto found = result.machine.find("labels");
  if (found == result.machine.end()) return false;
  const auto labels = texts_of(*found);
  return std::find(labels.begin(), labels.end(), label) != labels.end();
}

const PlacedRank* Judged::rank(int number) const {
  const auto at = static_cast<std::size_t>(number);
  if (number >= 0 && at < ranks.size() && ranks[at].rank == number) return &ranks[at];
  const auto found = std::find_if(ranks.begin(), ranks.end(),
                                  [&](const PlacedRank& rank) { return rank.rank == number; });
  return found == ranks.end() ? nullptr : &*found;
}

const PlacedRank* Judged::rank(const Case& of, int number) const {
  const auto* placed = rank(number);
  if (placed == nullptr || of.hosts.empty()) return placed;
  const auto at = static_cast<std::size_t>(number);
  return at < of.hosts.size() && of.hosts[at] == placed->host ? placed : nullptr;
}

std::vector<Json> hosts_of(const Judged& run) {
  const auto found = run.result.machine.find("hosts");
  if (found == run.result.machine.end() || !found->is_array()) return {};
  return {found->begin(), found->end()};
}

bool is_set(const Json& object, const char* name) {
  const auto found = object.find(name);
  return found != object.end() && found->is_boolean() && found->get<bool>();
}

std::vector<std::size_t> ib_nics(const Judged& run, const Case& of, const LaunchRecord& record) {
  std::vector<std::size_t> nics;
  const auto& graph = run.graph;
  const auto hosts = hosts_of_ranks(run.result, of);
  const auto sender = hosts.find(record.src);
  const auto host =
      sender != hosts.end() ? sender->second : text_at(run.result.machine, "/hosts/0/name");
  if (share_over(Fabric::rdma, record.path) < least_carried) return nics;
  const auto payload = number_at(record.path, "payload_bytes").value_or(0);
  const auto counters = record.path.find("bytes_by_counter");
  if (counters != record.path.end() && counters->is_object()) {
    for (const auto& [counter, bytes] : counters->items()) {
      if (!counter.starts_with("ib/") || !bytes.is_number()) continue;
      if (bytes.get<double>() >= least_carried * payload)
        add_named_nic(counter.substr(3), host, graph, nics);
    }
  }
  if (!nics.empty()) return nics;
  for (const auto& lane : record.lanes) {
    const auto slash = lane.find('/');
    if (slash != std::string::npos && !lane.starts_with("tcp")) {
      add_named_nic(lane.substr(slash + 1), host, graph, nics);
    }
  }
  return nics;
}

std::string sizes_of(const std::vector<const Case*>& cases) {
  const std::string what = is_workload(*cases.front()) ? "the runs of " : "";
  const auto first = what + size_of(*cases.front());
  return cases.size() == 1 ? first : first + " to " + size_of(*cases.back());
}

std::vector<Finding> once_for_sets(std::vector<Finding> findings) {
  constexpr std::string_view over = ", over ";
  std::vector<std::pair<std::string, std::vector<Finding>>> groups;  // by all but the set
  for (auto& finding : findings) {
    const auto what = finding.subject.substr(0, finding.subject.rfind(over));
    auto same = std::ranges::find(groups, what, [](const auto& group) { return group.first; });
    if (same == groups.end()) same = groups.insert(same, {what, {}});
    same->second.push_back(std::move(finding));
  }
  std::vector<Finding> once;
  for (auto& [what, group] : groups) {
    const auto set_of = [&, prefix = what.size() + over.size()](const Finding& finding) {
      return finding.subject.substr(prefix);
    };
    auto& worst = *std::ranges::max_element(
        group, {}, [](const Finding& finding) { return finding.cost_ms.value_or(0); });
    if (group.size() > 1) {
      worst.evidence += " (" + set_of(worst) + ")";
      worst.subject = fmt::format("{}{}{} sets", what, over, group.size());
    }
    once.push_back(std::move(worst));
  }
  return once;
}

Judged of_ucx_alone(const Judged& run) {
  auto alone = run;
  for (auto* blocks : {&alone.blocks, &alone.timed}) {
    for (auto& block : *blocks) {
      std::erase_if(block.cases, [](const Case* of) { return !by_ucx(*of); });
      std::erase_if(block.measured, [](const Case* of) { return !by_ucx(*of); });
    }
    std::erase_if(*blocks, [](const Block& block) { return block.cases.empty(); });
  }
  return alone;
}

std::vector<Finding> said_by(const Rule& rule, const Judged& run) {
  if (!run.used.any_of(rule.of)) return {};
  auto findings = rule.check((rule.of & by_any_ucx) != 0 ? of_ucx_alone(run) : run);
  std::erase_if(findings, [&](const Finding& finding) {
    return !run.used.any_of(finding.of) || !run.used.has_device(finding.device);
  });
  return findings;
}

std::optional<double> p50_of(const Case& of, const std::string& metric) {
  const auto found = of.metrics.find(metric);
  return found == of.metrics.end() ? std::nullopt : found->second.quantiles.p50;
}

bool may_be_alike(const Case& slow, const Case& fast, const std::string& metric) {
  const auto lower = interval_of(slow, metric);
  const auto upper = interval_of(fast, metric);
  return lower && upper && lower->high >= upper->low;
}

}  // namespace ucxbench
