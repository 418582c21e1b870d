#pragma once

// Every rule; rules.cpp lists them, and docs/method/findings.md says when each speaks.

#include <cstdint>
#include <string>
#include <vector>

#include "harness/analysis/findings.hpp"
#include "harness/analysis/rules/judged.hpp"

namespace ucxbench {

// run.cpp: whether the figures are what they seem.
std::vector<Finding> wrong_data(const Judged& run);
std::vector<Finding> no_bytes(const Judged& run);
std::vector<Finding> partial_run(const Judged& run);
std::vector<Finding> max_time(const Judged& run);
std::vector<Finding> log_full(const Judged& run);
std::vector<Finding> bad_end(const Judged& run);
std::vector<Finding> emulated_cpu(const Judged& run);

// transports.cpp: what carried the messages, against what was asked.
std::vector<Finding> nvlink_unused(const Judged& run);
std::vector<Finding> wrong_transport(const Judged& run);
std::vector<Finding> mixed_transport(const Judged& run);
std::vector<Finding> several_nics(const Judged& run);

// one_sided.cpp: operations on the peer's memory.
std::vector<Finding> put_and_get(const Judged& run);

// axes.cpp: cases that are alike but for one way to use UCX.
std::vector<Finding> axis_cost(const Judged& run);

// memory.cpp: kinds of memory.
std::vector<Finding> memory_fallback(const Judged& run);

// placement.cpp: ranks, their CPUs, GPUs and NICs.
std::vector<Finding> far_nic(const Judged& run);
std::vector<Finding> far_cpus(const Judged& run);
std::vector<Finding> lost_cpus(const Judged& run);
std::vector<Finding> shared_cpus(const Judged& run);
std::vector<Finding> not_pinned(const Judged& run);

// machine.cpp: its state.
std::vector<Finding> governor(const Judged& run);
std::vector<Finding> numa_balancing(const Judged& run);
std::vector<Finding> slow_pcie(const Judged& run);
std::vector<Finding> port_down(const Judged& run);
std::vector<Finding> busy_host(const Judged& run);

// host.cpp: what of its set-up limits communication; before a run, what UCX cannot use.
std::vector<Finding> small_shm(const Judged& run);
std::vector<Finding> cma_blocked(const Judged& run);
std::vector<Finding> own_namespaces(const Judged& run);
std::vector<Finding> cpu_quota(const Judged& run);
std::vector<Finding> turbo(const Judged& run);
std::vector<Finding> unusable_gpus(const Judged& run);
std::vector<Finding> unusable_nics(const Judged& run);

// trouble.cpp: what hosts and UCX itself said while it ran.
std::vector<Finding> error_counters(const Judged& run);
std::vector<Finding> congestion(const Judged& run);
std::vector<Finding> ucx_warnings(const Judged& run);

// samples.cpp: how far the samples can be trusted.
std::vector<Finding> wide_interval(const Judged& run);
std::vector<Finding> short_streams(const Judged& run);
std::vector<Finding> timing_cost(const Judged& run);
std::vector<Finding> few_launches(const Judged& run);
std::vector<Finding> two_modes(const Judged& run);
std::vector<Finding> moved_processors(const Judged& run);

// pairs.cpp: pairs of ranks against each other.
std::vector<Finding> above_limit(const Judged& run);
std::vector<Finding> slow_pair(const Judged& run);
std::vector<Finding> asymmetric_pair(const Judged& run);

// slow_hosts.cpp: of three hosts or more (analysis/sweep), which is at fault.
std::vector<Finding> slow_host(const Judged& run);
std::vector<Finding> slow_link(const Judged& run);

// ucx.cpp: itself and its settings.
std::vector<Finding> memlock(const Judged& run);
std::vector<Finding> several_ucx(const Judged& run);
std::vector<Finding> eager_too_long(const Judged& run);
std::vector<Finding> slow_first_message(const Judged& run);

// expected.cpp: what UCX expected of its protocols (--expected).
std::vector<Finding> far_estimate(const Judged& run);
std::vector<Finding> wrong_threshold(const Judged& run);
std::vector<Finding> guessed_speed(const Judged& run);

/// A block in which eager messages take longer than the smallest one by rendezvous.
struct LateRendezvous {
  std::string title;
  const Case* worst;         ///< of the eager ones
  const Case* first;         ///< by rendezvous
  std::uint64_t from_bytes;  ///< of the smallest eager one that takes longer
  double cost_us;            ///< of the worst
};
std::vector<LateRendezvous> late_rendezvous(const Judged& run);

}  // namespace ucxbench
