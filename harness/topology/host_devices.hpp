#pragma once

#include <filesystem>

#include "harness/core/json.hpp"

namespace ucxbench {

/// The models of a host's NVIDIA GPUs, one for each, sorted: "NVIDIA H100 80GB HBM3". By the
/// driver's files in /proc, so that no library is loaded. `root` is another folder in tests.
Json gpu_models(const std::filesystem::path& root = "/");

/// The same of its adapters on PCI: of RDMA devices the type that their driver tells ("MT4129"),
/// of others the vendor's and the device's number ("15b3:1021"). An adapter with several ports is
/// there once for each.
Json nic_models(const std::filesystem::path& root = "/");

}  // namespace ucxbench
