#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace ucxbench {

/// "mlx5_0:1", as UCX names RDMA ports, for those that are up.
std::vector<std::string> active_rdma_ports(
    const std::filesystem::path& infiniband = "/sys/class/infiniband");

/// The network device of such a port, on whose IP addresses rdmacm listens: "eth0" for RoCE, "ib0"
/// for InfiniBand; empty where it has none.
std::string net_device_of(const std::string& port,
                          const std::filesystem::path& infiniband = "/sys/class/infiniband");

}  // namespace ucxbench
