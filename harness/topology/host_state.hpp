#pragma once

#include <filesystem>

#include "harness/core/json.hpp"

namespace ucxbench {

/// What of a host's set-up limits or disturbs communication, for `machine.hosts[]`; null for what
/// the kernel does not say. `root` is another folder in tests.
/// - shm_bytes, shm_free_bytes: of /dev/shm, where UCX's posix transport and many frameworks work
/// - ptrace_scope: of the Yama security module, 0 to 3; null where it is not in the kernel
/// - numa_balancing: whether the kernel moves pages between NUMA nodes by itself
/// - turbo: whether clocks go above the nominal one, with load and temperature
/// - smt: whether cores have several hardware threads in use
/// - cpu_quota: the CPUs' worth of time that the cgroup and those around it may take; null for no
///   limit
/// - cma_error: why a process may not read or write another one's memory whatever ptrace_scope is,
///   as "process_vm_readv: Operation not permitted"; null where it may
/// - kernel_settings: sysctls and the like that change what communication costs, as text, by name:
///   "net.core.rmem_max"; only those that this kernel has
Json host_state(const std::filesystem::path& root = "/");

}  // namespace ucxbench
