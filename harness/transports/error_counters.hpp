#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>

#include "harness/result/result.hpp"

namespace ucxbench {

/// What this host, and this network namespace of it, have counted of losses, errors and waits
/// since they were started, whoever caused them. By name:
///
/// - "tcp/RetransSegs", "tcp/InErrs": /proc/net/snmp (RFC 4022; the kernel's retransmissions)
/// - "net/eth0/rx_errors", …: /sys/class/net/*/statistics. rx_dropped is left out: it counts
///   frames of protocols that nobody here speaks, too.
/// - "ib/mlx5_0:1/symbol_error", …: counters and hw_counters of RDMA ports. "port_xmit_wait" are
///   ticks in which data waited for credits.
/// - "nvlink/GPU0/crc_data_error", …: NVML, with `gpus`; some drivers tell them to root only.
///
/// What is not there is left out. `root` is another folder in tests.
std::map<std::string, std::uint64_t> read_error_counters(bool gpus,
                                                         const std::filesystem::path& root = "/");

/// Those that moved, {name, before, after} each.
Json moved_error_counters(const std::map<std::string, std::uint64_t>& before,
                          const std::map<std::string, std::uint64_t>& after);

}  // namespace ucxbench
