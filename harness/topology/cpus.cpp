#include "harness/topology/cpus.hpp"

#if defined(__x86_64__)
#include <cpuid.h>
#endif
#include <fmt/format.h>
#include <hwloc.h>
#include <sched.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>

#include "harness/core/files.hpp"
#include "harness/core/json.hpp"
#include "harness/core/or_null.hpp"
#include "harness/core/text.hpp"
#include "harness/topology/host_devices.hpp"
#include "harness/topology/host_state.hpp"

namespace ucxbench {
namespace {

using Topology = std::unique_ptr<hwloc_topology, decltype(&hwloc_topology_destroy)>;

Topology load_topology() {
  hwloc_topology_t raw = nullptr;
  hwloc_topology_init(&raw);
  Topology topology(raw, &hwloc_topology_destroy);
  if (hwloc_topology_load(raw) != 0) topology.reset();
  return topology;
}

// What this thread may run on: hwloc's own set is the machine's (or the cgroup's), affinity may be
// narrower.
hwloc_bitmap_t allowed_set(hwloc_topology_t topology) {
  hwloc_bitmap_t set = hwloc_bitmap_alloc();
  if (hwloc_get_cpubind(topology, set, HWLOC_CPUBIND_THREAD) != 0) {
    hwloc_bitmap_copy(set, hwloc_topology_get_allowed_cpuset(topology));
  }
  hwloc_bitmap_and(set, set, hwloc_topology_get_allowed_cpuset(topology));
  return set;
}

std::string cpu_model() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("model name")) {
      return std::string(trim_text(std::string_view(line).substr(line.find(':') + 1)));
    }
  }
  return "";
}

bool is_virtual_machine() {
  return text_of("/proc/cpuinfo").find(" hypervisor") != std::string::npos;
}

// "KVMKVMKVM", "TCGTCGTCGTCG"; empty without one, or if it does not say.
std::string hypervisor() {
#if defined(__x86_64__)
  if (!is_virtual_machine()) return "";
  std::array<unsigned, 4> words{};
  __cpuid(0x40000000U, words[0], words[1], words[2], words[3]);
  std::array<char, 3 * sizeof(unsigned) + 1> name{};
  std::memcpy(name.data(), &words[1], name.size() - 1);
  return name.data();
#else
  return "";
#endif
}

}  // namespace

std::vector<int> allowed_cpus() {
  std::vector<int> first_threads;
  std::vector<int> other_threads;
  const auto topology = load_topology();
  if (!topology) return {};
  hwloc_bitmap_t allowed = allowed_set(topology.get());
  const int cores = hwloc_get_nbobjs_by_type(topology.get(), HWLOC_OBJ_CORE);
  for (int i = 0; i < cores; ++i) {
    const auto* core =
        hwloc_get_obj_by_type(topology.get(), HWLOC_OBJ_CORE, static_cast<unsigned>(i));
    bool first = true;
    unsigned cpu = 0;
    hwloc_bitmap_foreach_begin(cpu, core->cpuset) {
      if (!hwloc_bitmap_isset(allowed, cpu)) continue;
      (first ? first_threads : other_threads).push_back(static_cast<int>(cpu));
      first = false;
    }
    hwloc_bitmap_foreach_end();
  }
  hwloc_bitmap_free(allowed);
  first_threads.insert(first_threads.end(), other_threads.begin(), other_threads.end());
  return first_threads;
}

std::vector<std::vector<int>> bind_automatically(int ranks, int threads) {
  std::vector<std::vector<int>> bound(static_cast<std::size_t>(ranks));
  const auto cpus = allowed_cpus();
  if (cpus.size() < bound.size()) return bound;
  const auto each = static_cast<std::ptrdiff_t>(
      std::min(static_cast<std::size_t>(threads), cpus.size() / bound.size()));
  auto next = cpus.begin();
  for (auto& set : bound) {
    set.assign(next, next + each);
    next += each;
  }
  return bound;
}

bool pin_this_thread(int cpu) {
  if (cpu < 0 || cpu >= CPU_SETSIZE) return false;
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(cpu, &set);
  return sched_setaffinity(0, sizeof set, &set) == 0;
}

std::optional<int> numa_node_of(int cpu) {
  for (int node = 0; node < 1024; ++node) {
    const auto folder = fmt::format("/sys/devices/system/cpu/cpu{}/node{}", cpu, node);
    if (access(folder.c_str(), F_OK) == 0) return node;
  }
  return std::nullopt;
}

Json describe_host() {
  utsname names{};
  uname(&names);
  Json host;
  host["name"] = names.nodename;
  host["kernel"] = names.release;
  host["architecture"] = names.machine;
  const auto model = cpu_model();
  host["cpu_model"] = text_or_null(model);
  if (const auto topology = load_topology()) {
    host["cores"] = hwloc_get_nbobjs_by_type(topology.get(), HWLOC_OBJ_CORE);
    host["hardware_threads"] = hwloc_get_nbobjs_by_type(topology.get(), HWLOC_OBJ_PU);
    host["numa_nodes"] = hwloc_get_nbobjs_by_type(topology.get(), HWLOC_OBJ_NUMANODE);
  }
  host["memory_bytes"] = static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES)) *
                         static_cast<std::uint64_t>(sysconf(_SC_PAGE_SIZE));
  host["governor"] =
      text_or_null(first_line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"));
  host["transparent_huge_pages"] =
      text_or_null(first_line("/sys/kernel/mm/transparent_hugepage/enabled"));
  host["virtual_machine"] = is_virtual_machine();
  const auto below = hypervisor();
  host["hypervisor"] = text_or_null(below);
  host["emulated_cpu"] = is_emulated_cpu(model, below);
  std::array<double, 3> load{};
  host["load_1min"] = getloadavg(load.data(), 3) > 0 ? Json(load[0]) : Json();
  host.update(host_state());
  host["gpus"] = gpu_models();
  host["nics"] = nic_models();
  return host;
}

bool is_emulated_cpu(std::string_view model, std::string_view hypervisor) {
  return model.find("TCG") != std::string_view::npos || hypervisor.starts_with("TCG");
}

std::string machine_id(const Json& host) {
  // FNV-1a, 32 bits: a label, not a proof.
  std::uint32_t hash = 2166136261U;
  for (const char* key : {"cpu_model", "cores", "hardware_threads", "numa_nodes", "architecture"}) {
    for (const char c : host.value(key, Json()).dump()) {
      hash = (hash ^ static_cast<unsigned char>(c)) * 16777619U;
    }
  }
  return fmt::format("{}-{:08x}", host.at("name").get<std::string>(), hash);
}

}  // namespace ucxbench
