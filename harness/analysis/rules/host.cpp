#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

#include "harness/analysis/comparison/placements.hpp"
#include "harness/analysis/rules/rules.hpp"
#include "harness/core/units.hpp"
#include "harness/result/words.hpp"

namespace ucxbench {
namespace {

/// Containers get 64 MiB where nothing else is said.
constexpr double little_shm_bytes = 256.0 * (1U << 20U);

template <typename Check>
std::vector<Finding> of_each_host(const Judged& run, Check check) {
  std::vector<Finding> findings;
  for (const auto& host : hosts_of(run)) {
    if (auto finding = check(host)) {
      finding->subject = finding->host = text_at(host, "/name");
      findings.push_back(std::move(*finding));
    }
  }
  return findings;
}

/// The first host's are the run's; empty where they were not recorded.
std::optional<bool> finds_resource(const Judged& run, const Json& host, const std::string& prefix) {
  const auto ucx = host.value("ucx", run.result.ucx);
  const auto found = ucx.find("resources");
  if (found == ucx.end()) return std::nullopt;
  return std::any_of(found->begin(), found->end(), [&](const Json& resource) {
    return text_at(resource, "").starts_with(prefix);
  });
}

auto ranks_on(const Judged& run, const Json& host) {
  const auto name = text_at(host, "/name");
  return std::count_if(run.ranks.begin(), run.ranks.end(),
                       [&](const PlacedRank& rank) { return rank.host == name; });
}

/// Why UCX cannot use a member here; empty when it can, or nobody looked.
std::string why_unusable(const Judged& run, const std::string& member) {
  return text_at(run.result.ucx, "/transports/" + member, "");
}

}  // namespace

std::vector<Finding> small_shm(const Judged& run) {
  return of_each_host(run, [](const Json& host) -> std::optional<Finding> {
    const auto bytes = number_at(host, "shm_bytes");
    if (!bytes && host.contains("shm_bytes")) {
      return Finding{.subject = {},
                     .evidence =
                         "there is no /dev/shm: UCX has no posix, and many frameworks no "
                         "shared memory",
                     .next = "mount a tmpfs at /dev/shm"};
    }
    if (!bytes || *bytes >= little_shm_bytes) return std::nullopt;
    return Finding{.subject = {},
                   .evidence = fmt::format("/dev/shm has {}: UCX's shared memory may need more",
                                           spaced_size(static_cast<std::uint64_t>(*bytes))),
                   .next = "start the container with --shm-size=8g or --ipc=host"};
  });
}

std::vector<Finding> cma_blocked(const Judged& run) {
  return of_each_host(run, [&](const Json& host) -> std::optional<Finding> {
    const auto scope = number_at(host, "ptrace_scope").value_or(0);
    const auto error = text_at(host, "/cma_error", "");
    const auto found = finds_resource(run, host, "cma/");
    if (!found || (error.empty() && (scope < 1 || *found))) return std::nullopt;
    const auto why = error.empty() ? fmt::format("ptrace_scope is {}", scope) : error;
    if (*found) {
      return Finding{.subject = {},
                     .evidence = fmt::format(
                         "UCX uses cma, which the kernel forbids ({}): large messages fail", why),
                     .next = "add SYS_PTRACE"};
    }
    return Finding{
        .subject = {},
        .evidence =
            fmt::format("UCX cannot use cma ({}): large messages over shm are copied twice", why),
        .next = error.empty() ? "set sysctl kernel.yama.ptrace_scope=0, or add SYS_PTRACE"
                              : "give the container SYS_PTRACE"};
  });
}

std::vector<Finding> own_namespaces(const Judged& run) {
  return of_each_host(run, [&](const Json& host) -> std::optional<Finding> {
    std::map<std::string, std::set<std::string>> of_kind;
    for (const auto& rank : run.result.ranks) {
      if (text_at(rank, "/host") != text_at(host, "/name")) continue;
      const auto recorded = rank.find("namespaces");
      if (recorded == rank.end()) continue;
      for (const auto& [kind, name] : recorded->items()) {
        of_kind[kind].insert(name.get<std::string>());
      }
    }
    // By what UCX uses them for (cma_iface.c, mm_sysv.c).
    const bool cma = of_kind["user"].size() > 1 || of_kind["pid"].size() > 1;
    const bool sysv = of_kind["ipc"].size() > 1;
    if (!cma && !sysv) return std::nullopt;
    std::erase_if(of_kind, [](const auto& kind) { return kind.second.size() < 2; });
    std::vector<std::string> kinds;
    for (const auto& kind : of_kind) kinds.push_back(kind.first);
    return Finding{.subject = {},
                   .evidence = fmt::format(
                       "ranks are in namespaces of their own ({}): UCX has no {} between them",
                       fmt::join(kinds, ", "),
                       cma && sysv ? "cma or sysv"
                       : cma       ? "cma"
                                   : "sysv"),
                   .next = "use one container for all, or --pid=host --ipc=host"};
  });
}

std::vector<Finding> cpu_quota(const Judged& run) {
  return of_each_host(run, [&](const Json& host) -> std::optional<Finding> {
    const auto quota = number_at(host, "cpu_quota");
    // Before a run: two ranks are the least that say anything.
    const auto needed = static_cast<double>(run.ranks.empty() ? 2 : ranks_on(run, host));
    if (!quota || *quota >= needed) return std::nullopt;
    return Finding{
        .subject = {},
        .evidence = fmt::format("the cgroup's CPU quota is {} CPUs, {} polling ranks need {}: "
                                "the kernel throttles them",
                                significant(quota, 2), needed, needed),
        .next = "raise the container's CPU limit"};
  });
}

std::vector<Finding> turbo(const Judged& run) {
  return of_each_host(run, [](const Json& host) -> std::optional<Finding> {
    if (!is_set(host, "turbo")) return std::nullopt;
    return Finding{.subject = {},
                   .evidence = "turbo is on: clocks depend on load and temperature",
                   .next =
                       "for repeatable figures, switch turbo off in the BIOS or by "
                       "intel_pstate/no_turbo"};
  });
}

std::vector<Finding> governor(const Judged& run) {
  return of_each_host(run, [](const Json& host) -> std::optional<Finding> {
    const auto governor = text_at(host, "/governor", "");
    if (governor.empty() || governor == "performance") return std::nullopt;
    return Finding{
        .subject = {},
        .evidence = "the CPU frequency governor is " + governor + ": latencies follow the clock",
        .next = "set it: cpupower frequency-set -g performance"};
  });
}

std::vector<Finding> numa_balancing(const Judged& run) {
  return of_each_host(run, [](const Json& host) -> std::optional<Finding> {
    if (!is_set(host, "numa_balancing") || number_at(host, "numa_nodes").value_or(1) < 2) {
      return std::nullopt;
    }
    return Finding{
        .subject = {},
        .evidence =
            "automatic NUMA balancing is on: the kernel unmaps and moves pages during the run",
        .next = "switch it off: sysctl kernel.numa_balancing=0"};
  });
}

std::vector<Finding> moved_processors(const Judged& run) {
  std::vector<Finding> findings;
  const auto look = [&](const std::string& subject, const Placements& placements) {
    const auto words = placements.in_brief();
    if (words.empty()) return;
    findings.push_back(
        {.subject = subject,
         .evidence = fmt::format(
             "placement changed between launches: the hypervisor moved the CPUs ({})", words),
         .next = "use dedicated, pinned cores"});
  };
  look(run.ranks.empty() ? "host" : run.ranks.front().host, Placements({&run.result}));
  for (const auto& host : other_hosts_with_processors(run.result)) {
    look(host, Placements({&run.result}, host));
  }
  return findings;
}

std::vector<Finding> busy_host(const Judged& run) {
  return of_each_host(run, [&](const Json& host) -> std::optional<Finding> {
    const auto load = number_at(host, "load_1min");
    const auto threads = number_at(host, "hardware_threads");
    // Before a run: two ranks, which most commands have.
    const auto ranks = run.ranks.empty() ? 2 : ranks_on(run, host);
    if (!load || !threads || ranks == 0 || *load < 0.5) return std::nullopt;
    const auto busy = static_cast<double>(ranks);
    // More ranks than CPUs is what shared-cpus says.
    if (busy > *threads || busy + *load <= *threads) return std::nullopt;
    const auto left = *threads - *load;
    return Finding{.subject = {},
                   .evidence = fmt::format(
                       "load average {} on {} CPUs before the run: {} left for {}",
                       significant(load, 2), text_at(host, "/hardware_threads"),
                       left < 0.1 ? "no CPU is" : "only " + significant(left, 2) + " CPUs are",
                       counted(static_cast<std::size_t>(ranks), "rank")),
                   .next = "close other programs, then run again"};
  });
}

std::vector<Finding> unusable_gpus(const Judged& run) {
  const auto gpus = run.graph.of_kind(NodeKind::gpu);
  const auto why = why_unusable(run, "nvlink");
  if (!run.result.cases.empty() || gpus.empty() || why.empty()) return {};
  return {{.subject = run.graph.nodes[gpus.front()].name,
           .evidence = fmt::format("{} found, but UCX cannot use their memory: {}",
                                   counted(gpus.size(), "GPU"), why),
           .next = "ucx-bench list transports"}};
}

std::vector<Finding> unusable_nics(const Judged& run) {
  const auto why = why_unusable(run, "ib");
  if (!run.result.cases.empty() || why.empty()) return {};
  for (const auto nic : run.graph.of_kind(NodeKind::nic)) {
    if (run.graph.nodes[nic].state != "ACTIVE") continue;
    return {{.subject = run.graph.nodes[nic].name,
             .evidence = "its RDMA port is active, but UCX cannot use it: " + why,
             .next = "ucx-bench list transports"}};
  }
  return {};
}

}  // namespace ucxbench
