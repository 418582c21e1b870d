#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/core/json.hpp"

namespace ucxbench {

/// Logical CPUs that this process may use, one per physical core first (the first hardware thread
/// of each, in NUMA order), then the other hardware threads. From hwloc, within the process's
/// affinity and cgroup.
std::vector<int> allowed_cpus();

/// The CPUs of each local rank: neighbours in allowed_cpus()' order, `threads` each if there are
/// enough, else one each. Empty sets (no pinning) when there are fewer CPUs than ranks: two polling
/// ranks pinned to one core would only wait for each other's time slice.
std::vector<std::vector<int>> bind_automatically(int ranks, int threads = 1);

/// Whether the calling thread now runs on this logical CPU only; false where it may not or there is
/// none.
bool pin_this_thread(int cpu);

/// The NUMA node of a logical CPU; empty when unknown.
std::optional<int> numa_node_of(int cpu);

/// Facts of this host for `machine.hosts[]`: name, kernel, cpu_model, cores, numa_nodes, memory,
/// hypervisor, governor, load, and host_state().
Json describe_host();

/// Whether a processor is software: QEMU's TCG, by the model's name or by what CPUID says of the
/// hypervisor.
bool is_emulated_cpu(std::string_view model, std::string_view hypervisor);

/// A stable identifier of this kind of machine: "<host name>-<hash of the CPU model, cores, kernel
/// release>".
std::string machine_id(const Json& host);

}  // namespace ucxbench
