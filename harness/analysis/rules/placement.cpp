#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "harness/analysis/rules/rules.hpp"
#include "harness/analysis/wired_hosts.hpp"
#include "harness/core/units.hpp"
#include "harness/result/words.hpp"
#include "harness/topology/path.hpp"

namespace ucxbench {
namespace {

/// A rank that may run on this share of a device's CPUs was given them all, but for a mistake.
constexpr double nearly_all_cpus = 0.75;

/// By rank: the NICs that its InfiniBand messages leave by.
std::map<int, std::set<std::size_t>> nics_by_rank(const Judged& run) {
  std::map<int, std::set<std::size_t>> nics;
  bool any_ib = false;
  for (const auto& of : run.result.cases) {
    for (const auto& record : of.launches) {
      const auto used = ib_nics(run, of, record);
      nics[record.src].insert(used.begin(), used.end());
      any_ib |= !used.empty();
    }
  }
  // What a rank is bound to carries its messages too where it only answered.
  for (const auto& rank : run.ranks) {
    if (any_ib && nics[rank.rank].empty()) {
      nics[rank.rank].insert(rank.bound_nics.begin(), rank.bound_nics.end());
    }
  }
  return nics;
}

/// Where a rank's data are: its GPU, else the NUMA node of its CPUs.
std::optional<std::size_t> data_of(const Judged& run, const PlacedRank& rank) {
  if (rank.gpu) return rank.gpu;
  if (rank.cpus.empty()) return std::nullopt;
  for (const auto numa : run.graph.of_kind(NodeKind::numa)) {
    const auto& cpus = run.graph.nodes[numa].cpus;
    if (run.graph.nodes[numa].host != rank.host) continue;
    if (cpus && std::ranges::includes(*cpus, rank.cpus)) return numa;
  }
  return std::nullopt;
}

/// The RDMA port of a NIC is known to be up, or nothing is known of any.
bool usable(const Node& nic, const Node& used) {
  return nic.state == "ACTIVE" || (nic.state.empty() && used.state.empty());
}

/// The NICs like `used` that are nearer to `data` than it is; the nearest of them.
std::vector<std::size_t> nearer_nics(const Graph& graph, std::size_t data, std::size_t used) {
  auto best = class_between(graph, data, used).distance;
  std::vector<std::size_t> nearer;
  if (best == Distance::unknown) return nearer;
  for (const auto nic : graph.of_kind(NodeKind::nic)) {
    if (graph.nodes[nic].host != graph.nodes[used].host) continue;
    const auto distance = class_between(graph, data, nic).distance;
    if (distance > best || nic == used || !usable(graph.nodes[nic], graph.nodes[used])) continue;
    if (distance < best) nearer.clear();
    if (distance < best || !nearer.empty()) nearer.push_back(nic);
    best = distance;
  }
  return nearer;
}

std::string names_of(const Graph& graph, const std::vector<std::size_t>& nodes) {
  std::vector<std::string> names;
  for (const auto node : nodes) names.push_back(own_name(graph.nodes[node]));
  return join(names, " or ");
}

std::string numa_in_words(const Graph& graph, std::size_t node) {
  const auto number = numa_of(graph, node);
  return number ? fmt::format(" (NUMA {})", *number) : "";
}

std::vector<int> missing_from(const std::vector<int>& of, const std::vector<int>& all) {
  std::vector<int> missing;
  std::ranges::set_difference(all, of, std::back_inserter(missing));
  return missing;
}

bool any_common(const std::vector<int>& a, const std::vector<int>& b) {
  return missing_from(a, b).size() < b.size();
}

/// The device that a rank's CPUs should be near to: its GPU, else its NIC.
std::optional<std::size_t> device_of(const PlacedRank& rank, const std::set<std::size_t>& nics) {
  if (rank.gpu) return rank.gpu;
  return nics.empty() ? std::nullopt : std::optional(*nics.begin());
}

std::map<std::string, std::vector<const PlacedRank*>> ranks_by_host(const Judged& run) {
  std::map<std::string, std::vector<const PlacedRank*>> hosts;
  for (const auto& rank : run.ranks) {
    if (!rank.cpus.empty()) hosts[rank.host].push_back(&rank);
  }
  return hosts;
}

std::set<int> all_cpus_of(const std::vector<const PlacedRank*>& ranks) {
  std::set<int> cpus;
  for (const auto* rank : ranks) cpus.insert(rank->cpus.begin(), rank->cpus.end());
  return cpus;
}

/// Where a launcher has given its processes on a host fewer CPUs than that has: how many, of how
/// many, and what to ask it for. Empty else.
struct Given {
  std::string evidence, next;
};
Given given_by_launcher(const Judged& run, const std::string& host, std::size_t ranks) {
  for (const auto& facts : hosts_of(run)) {
    const auto launcher = facts.find("launcher");
    const auto threads = number_at(facts, "hardware_threads");
    if (text_at(facts, "/name") != host || launcher == facts.end() || !threads) continue;
    std::set<int> cpus;
    const auto& processes = launcher->at("processes");
    for (const auto& process : processes) {
      const auto of_one = process.at("cpus").get<std::vector<int>>();
      cpus.insert(of_one.begin(), of_one.end());
    }
    if (static_cast<double>(cpus.size()) >= *threads) continue;
    const auto each = (ranks + processes.size() - 1) / processes.size();
    const auto name = text_at(*launcher, "/name");
    return {fmt::format("; {} gave {} of {} CPUs", name, cpus.size(), *threads),
            name == "Slurm" ? fmt::format("use srun --cpus-per-task={}", each)
                            : "use mpirun --bind-to none"};
  }
  return {};
}

std::string nearest_devices(Node nic) {
  nic.name = own_name(nic);
  const auto device = ucx_device_of(nic);
  if (device.empty()) return "use --net-devices nearest";
  return fmt::format("use --net-devices nearest, or UCX_NET_DEVICES={} for this rank", device);
}

}  // namespace

std::vector<Finding> far_nic(const Judged& run) {
  std::vector<Finding> findings;
  auto nics = nics_by_rank(run);
  for (const auto& rank : run.ranks) {
    const auto data = data_of(run, rank);
    if (!data) continue;
    for (const auto used : nics[rank.rank]) {
      const auto nearer = nearer_nics(run.graph, *data, used);
      if (nearer.empty()) continue;
      findings.push_back(
          {.subject = rank.name(run.graph),
           .evidence = fmt::format(
               "uses {} ({}), {} is nearer ({})", own_name(run.graph.nodes[used]),
               to_string(class_between(run.graph, *data, used)), names_of(run.graph, nearer),
               to_string(class_between(run.graph, *data, nearer.front()))),
           .next = nearest_devices(run.graph.nodes[nearer.front()]),
           .of = rank.gpu ? of_gpu_memory : over_ib});
    }
  }
  return findings;
}

std::vector<Finding> far_cpus(const Judged& run) {
  std::vector<Finding> findings;
  auto nics = nics_by_rank(run);
  for (const auto& rank : run.ranks) {
    const auto device = device_of(rank, nics[rank.rank]);
    const auto near = device ? nearest_cpus(run.graph, *device) : std::nullopt;
    if (!near || near->empty() || rank.cpus.empty() || any_common(rank.cpus, *near)) continue;
    findings.push_back(
        {.subject = rank.name(run.graph),
         .evidence = fmt::format("runs on CPU {}, far from {}{}, whose CPUs are {}",
                                 format_list(rank.cpus), own_name(run.graph.nodes[*device]),
                                 numa_in_words(run.graph, *device), format_list(*near)),
         .next = "use --bind auto, or --bind with one of " + format_list(*near) + " for it",
         .of = rank.gpu ? of_gpu_memory : over_ib});
  }
  return findings;
}

std::vector<Finding> lost_cpus(const Judged& run) {
  std::vector<Finding> findings;
  for (const auto& rank : run.ranks) {
    const auto near = rank.gpu ? nearest_cpus(run.graph, *rank.gpu) : std::nullopt;
    if (!near || near->empty() || !missing_from(*near, rank.cpus).empty()) continue;
    const auto lost = missing_from(rank.cpus, *near);
    const auto share = static_cast<double>(rank.cpus.size()) / static_cast<double>(near->size());
    if (lost.empty() || share < nearly_all_cpus) continue;
    findings.push_back({.subject = rank.name(run.graph),
                        .evidence = fmt::format(
                            "may run on {} of the {} CPUs near {}: not on {}", rank.cpus.size(),
                            near->size(), own_name(run.graph.nodes[*rank.gpu]), format_list(lost)),
                        .next = "start it with taskset -c " + format_list(*near)});
  }
  return findings;
}

namespace {

std::size_t most_threads(const Judged& run) {
  int most = 1;
  for (const auto& of : run.result.cases) most = std::max(most, threads_in(of.parameters));
  return static_cast<std::size_t>(most);
}

Finding threads_share(const std::string& host, std::size_t ranks, std::size_t threads,
                      const std::set<int>& cpus) {
  return {.subject = "ranks on " + host,
          .evidence = fmt::format("{} of {} threads on {} ({}): polling threads take turns",
                                  counted(ranks, "rank"), threads, counted(cpus.size(), "CPU"),
                                  format_list({cpus.begin(), cpus.end()})),
          .next = "use fewer threads, or another --bind",
          .host = host};
}

}  // namespace

std::vector<Finding> shared_cpus(const Judged& run) {
  std::vector<Finding> findings;
  for (const auto& [host, ranks] : ranks_by_host(run)) {
    const auto cpus = all_cpus_of(ranks);
    const auto threads = most_threads(run);
    if (cpus.size() >= ranks.size() * threads) continue;
    if (cpus.size() >= ranks.size()) {
      findings.push_back(threads_share(host, ranks.size(), threads, cpus));
      continue;
    }
    const auto polls = [](const Case& of) {
      return text_at(of.parameters, "/progress_mode") != "event";
    };
    const auto& cases = run.result.cases;
    const bool asleep = !cases.empty() && std::ranges::none_of(cases, polls);
    const auto given = given_by_launcher(run, host, ranks.size());
    findings.push_back(
        {.subject = "ranks on " + host,
         .evidence =
             fmt::format("{} on {} ({}): {}{}", counted(ranks.size(), "rank"),
                         counted(cpus.size(), "CPU"), format_list({cpus.begin(), cpus.end()}),
                         asleep ? "all times contain waits for a CPU" : "polling ranks take turns",
                         given.evidence),
         .next = !given.next.empty() ? given.next
                 : asleep            ? "use fewer ranks, or another --bind"
                                     : "use fewer ranks, another --bind, or --progress-mode event",
         .host = host});
  }
  return findings;
}

std::vector<Finding> not_pinned(const Judged& run) {
  std::vector<Finding> findings;
  for (const auto& [host, ranks] : ranks_by_host(run)) {
    std::map<std::vector<int>, std::size_t> sets;
    for (const auto* rank : ranks) ++sets[rank->cpus];
    const auto most =
        std::ranges::max_element(sets, {}, [](const auto& set) { return set.second; });
    const auto& [cpus, count] = *most;
    // Fewer CPUs than ranks is what shared-cpus says.
    if (count < 2 || cpus.size() < 2 || all_cpus_of(ranks).size() < ranks.size()) continue;
    findings.push_back(
        {.subject = "ranks on " + host,
         .evidence = fmt::format("{} share CPUs {}: the scheduler may move them away "
                                 "from their memory",
                                 counted(count, "rank"), format_list(cpus)),
         .next = "use --bind auto",
         .host = host});
  }
  return findings;
}

}  // namespace ucxbench
