#include "harness/topology/host_state.hpp"

#include <sys/statvfs.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <sstream>
#include <string>
#include <system_error>

#include "harness/core/cgroups.hpp"
#include "harness/core/files.hpp"
#include "harness/core/json.hpp"

namespace ucxbench {
namespace {

namespace fs = std::filesystem;

Json number_or_null(const fs::path& file) {
  const auto number = number_of(file);
  return number ? Json(*number) : Json();
}

Json flag_or_null(const fs::path& file) {
  const auto number = number_of(file);
  return number ? Json(*number != 0) : Json();
}

/// Intel's own driver says it the other way round.
Json turbo(const fs::path& cpus) {
  if (const auto off = number_of(cpus / "intel_pstate/no_turbo")) return *off == 0;
  return flag_or_null(cpus / "cpufreq/boost");
}

/// "200000 100000", or "max 100000", of µs.
std::optional<double> quota_of_cgroup2(const std::string& line) {
  std::istringstream words(line);
  double quota = 0;
  double period = 0;
  if (!(words >> quota >> period) || period <= 0) return std::nullopt;
  return quota / period;
}

std::optional<double> quota_of_cgroup1(const fs::path& folder) {
  // No limit is -1, which is no number here.
  const auto quota = number_of(folder / "cpu.cfs_quota_us");
  const auto period = number_of(folder / "cpu.cfs_period_us");
  if (!quota || !period || *period == 0) return std::nullopt;
  return static_cast<double>(*quota) / static_cast<double>(*period);
}

/// The least of the group and those around it, each of which limits it.
Json cpu_quota(const fs::path& root) {
  std::optional<double> least;
  for (const auto& group : own_cgroups("cpu", root)) {
    auto quota = quota_of_cgroup2(first_line(group.folder / "cpu.max"));
    if (!quota) quota = quota_of_cgroup1(group.folder);
    if (quota && (!least || *quota < *least)) least = quota;
  }
  return least ? Json(*least) : Json();
}

/// As UCX's cma moves another process's memory, of this process itself. Yama asks nothing for that:
/// only a filter of system calls (seccomp), as containers have, or the kernel's build forbids it.
/// UCX tries only to write, and then reads large messages.
Json why_no_cma() {
  std::byte from{};
  std::byte into{};
  const iovec remote{&from, sizeof from};
  const iovec local{&into, sizeof into};
  const auto why_not = [&](const char* name, auto* call) -> Json {
    if (call(::getpid(), &local, 1, &remote, 1, 0) == 1) return nullptr;
    return std::string(name) + ": " + std::generic_category().message(errno);
  };
  auto why = why_not("process_vm_readv", ::process_vm_readv);
  return why.is_null() ? why_not("process_vm_writev", ::process_vm_writev) : why;
}

// Of files below /proc/sys, "/" being "." in their names.
constexpr std::array settings = {"kernel/randomize_va_space",
                                 "kernel/sched_autogroup_enabled",
                                 "kernel/sched_rt_runtime_us",
                                 "kernel/nmi_watchdog",
                                 "kernel/timer_migration",
                                 "vm/swappiness",
                                 "vm/overcommit_memory",
                                 "vm/nr_hugepages",
                                 "vm/zone_reclaim_mode",
                                 "vm/compaction_proactiveness",
                                 "net/core/rmem_max",
                                 "net/core/wmem_max",
                                 "net/core/rmem_default",
                                 "net/core/wmem_default",
                                 "net/core/netdev_max_backlog",
                                 "net/core/busy_poll",
                                 "net/core/busy_read",
                                 "net/core/default_qdisc",
                                 "net/core/rps_sock_flow_entries",
                                 "net/ipv4/tcp_rmem",
                                 "net/ipv4/tcp_wmem",
                                 "net/ipv4/tcp_congestion_control",
                                 "net/ipv4/tcp_timestamps",
                                 "net/ipv4/tcp_sack",
                                 "net/ipv4/tcp_window_scaling",
                                 "net/ipv4/tcp_autocorking",
                                 "net/ipv4/tcp_limit_output_bytes",
                                 "net/ipv4/tcp_mtu_probing",
                                 "net/ipv4/tcp_slow_start_after_idle"};

Json kernel_settings(const fs::path& root) {
  Json found = Json::object();
  const auto add = [&](const std::string& name, const fs::path& file) {
    auto line = first_line(file);
    std::ranges::replace(line, '\t', ' ');
    if (!line.empty()) found[name] = line;
  };
  for (const std::string setting : settings) {
    auto name = setting;
    std::ranges::replace(name, '/', '.');
    add(name, root / "proc/sys" / setting);
  }
  add("kernel command line", root / "proc/cmdline");
  add("clocksource", root / "sys/devices/system/clocksource/clocksource0/current_clocksource");
  add("transparent huge pages of shm", root / "sys/kernel/mm/transparent_hugepage/shmem_enabled");
  return found;
}

}  // namespace

Json host_state(const fs::path& root) {
  Json state;
  struct statvfs shm{};
  const bool known = statvfs((root / "dev/shm").c_str(), &shm) == 0;
  const auto bytes = [&](std::uint64_t blocks) {
    return known ? Json(blocks * static_cast<std::uint64_t>(shm.f_frsize)) : Json();
  };
  state["shm_bytes"] = bytes(shm.f_blocks);
  state["shm_free_bytes"] = bytes(shm.f_bavail);
  state["ptrace_scope"] = number_or_null(root / "proc/sys/kernel/yama/ptrace_scope");
  state["numa_balancing"] = flag_or_null(root / "proc/sys/kernel/numa_balancing");
  const auto cpus = root / "sys/devices/system/cpu";
  state["turbo"] = turbo(cpus);
  state["smt"] = flag_or_null(cpus / "smt/active");
  const auto known_settings = kernel_settings(root);
  state["kernel_settings"] = known_settings.empty() ? Json() : known_settings;
  state["cpu_quota"] = cpu_quota(root);
  state["cma_error"] = root == "/" ? why_no_cma() : Json();
  return state;
}

}  // namespace ucxbench
