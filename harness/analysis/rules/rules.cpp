#include "harness/analysis/rules/rules.hpp"

#include <array>

namespace ucxbench {

std::span<const Rule> rules() {
  using enum Severity;
  static constexpr std::array all = {
      Rule{"wrong-data", error, "messages or runs had wrong data", wrong_data},
      Rule{"partial-run", error, "the run did not end: results are partial", partial_run},
      Rule{"nvlink-unused", error, "NVLink was asked for and is there, but was not used",
           nvlink_unused},
      Rule{"wrong-transport", error, "another transport carried the messages", wrong_transport},
      Rule{"above-limit", error, "a figure is above what links, CPUs or clocks allow", above_limit},
      Rule{"unusable-gpus", error, "UCX cannot use the memory of GPUs (doctor)", unusable_gpus},
      Rule{"unusable-nics", error, "UCX cannot use an active RDMA port (doctor)", unusable_nics},
      Rule{"mixed-transport", warning, "another transport carried a part of the messages",
           mixed_transport},
      Rule{"far-nic", warning, "a rank's NIC is farther from its GPU or memory than another",
           far_nic},
      Rule{"far-cpus", warning, "a rank runs on CPUs far from its GPU or NIC", far_cpus},
      Rule{"shared-cpus", warning, "more ranks than CPUs", shared_cpus},
      Rule{"slow-host", warning, "a host, or one of its ranks, is slow towards all others",
           slow_host},
      Rule{"slow-link", warning, "two hosts are slow only towards each other", slow_link},
      Rule{"slow-pair", warning, "a pair is more than 20 % below the median of its class",
           slow_pair},
      Rule{"asymmetric-pair", warning, "a pair's two directions differ by more than 20 %",
           asymmetric_pair},
      Rule{"slow-pcie", warning, "a NIC's PCIe link trained below what both ends can do",
           slow_pcie},
      Rule{"eager-too-long", warning, "an eager message takes longer than a larger rendezvous",
           eager_too_long},
      Rule{"put-and-get", warning, "put and get differ in path, or by more than twice in rate",
           put_and_get},
      Rule{"memlock", warning, "UCX may lock too little memory for InfiniBand", memlock},
      Rule{"max-time", warning, "max_time ended before all launches", max_time},
      Rule{"emulated-cpu", warning, "the CPU is emulated", emulated_cpu},
      Rule{"small-shm", warning, "/dev/shm is small, as in a container", small_shm},
      Rule{"cma-blocked", warning, "UCX cannot use cma: the kernel forbids it", cma_blocked},
      Rule{"cpu-quota", warning, "the cgroup's CPU quota is below what polling ranks need",
           cpu_quota},
      Rule{"governor", warning, "the CPU frequency governor is not performance", governor},
      Rule{"numa-balancing", warning, "the kernel moves pages between NUMA nodes", numa_balancing},
      Rule{"ucx-warnings", warning, "UCX itself printed warnings or errors", ucx_warnings},
      Rule{"error-counters", warning, "counters of losses and errors grew during the run",
           error_counters},
      Rule{"wide-interval", warning, "a 95 % interval of 9 launches or more is wider than 10 %",
           wide_interval, true},
      Rule{"busy-host", warning, "the host was busy before the run", busy_host, true},
      Rule{"short-streams", warning, "streams were too short for the clock, or not all at once",
           short_streams},
      Rule{"timing-cost", note, "timed and untimed loops differ by more than 1 %", timing_cost,
           true},
      Rule{"two-modes", note, "a latency has two modes", two_modes},
      Rule{"moved-processors", note,
           "placement changed between launches: the hypervisor moved the CPUs", moved_processors,
           true},
      Rule{"few-launches", note, "too few launches for a 95 % interval", few_launches, true},
      Rule{"not-pinned", note, "several ranks share a set of CPUs", not_pinned},
      Rule{"lost-cpus", note, "a rank may not use a few of the CPUs near its GPU", lost_cpus},
      Rule{"port-down", note, "an InfiniBand port is down", port_down},
      Rule{"several-nics", note, "messages are striped over several NICs", several_nics},
      Rule{"slow-first-message", note,
           "a first message takes 10 times as long as later ones or more", slow_first_message},
      Rule{"congestion", note, "counters of retransmissions and waits grew during the run",
           congestion},
      Rule{"turbo", note, "turbo is on", turbo, true},
  };
  return all;
}

}  // namespace ucxbench
