#pragma once

#include <optional>

namespace ucxbench {

/// How far two processors are from each other: what a word that both poll takes from one's cache to
/// the other's, in ns; half a round trip, the median of 100 samples of 100 trips between two
/// threads. The hardware threads of one core are nearest, cores of another socket farthest. It is a
/// property of the host that benchmarks feel and do not set: a hypervisor moves the processors of a
/// virtual machine from one core to another within seconds. Takes a few milliseconds, at most about
/// 50; empty where that does not suffice (a processor is busy), for one processor, and for one that
/// may not be used.
std::optional<double> cpu_to_cpu_ns(int one, int other);

}  // namespace ucxbench
