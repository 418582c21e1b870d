#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace ucxbench {

/// Bytes that left this host's devices, by "member/device": "tcp/lo", "ib/mlx5_0:1", "nvlink/GPU0".
/// They are counted by the kernel, the adapter and the GPU, whoever sends: they speak about one
/// connection only while nothing else does. Sources: /proc/net/dev of this network namespace;
/// port_xmit_data × 4 of InfiniBand ports (the unit is 4 octets, InfiniBand Architecture
/// Specification vol. 1, PortCounters), for soft-RoCE hw_counters/sent_pkts × its path MTU, an
/// upper bound; NVML field 138 (NVLink transmitted, KiB). What is not there is left out.
using Counters = std::map<std::string, std::uint64_t>;
Counters read_counters();

/// What moved between two readings, 0 for a counter that did not; one that was set back is left
/// out.
Counters moved(const Counters& before, const Counters& after);

/// What moved until now. An adapter may count a packet after it has arrived, so this waits until
/// two readings of its counters agree, 0.1 s at most; hosts without one do not wait.
Counters moved_since(const Counters& before);

/// The bytes that /proc/net/dev's text counts as transmitted, by device.
std::map<std::string, std::uint64_t> parse_net_dev(const std::string& text);

/// RoCE's path MTU on a network device of `mtu` bytes: the largest InfiniBand MTU that leaves room
/// for the headers (Linux, include/rdma/ib_addr.h, iboe_get_mtu).
std::uint64_t roce_mtu(std::uint64_t mtu);

}  // namespace ucxbench
