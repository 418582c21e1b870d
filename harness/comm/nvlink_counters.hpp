#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace ucxbench {

/// Bytes sent over all NVLinks of each GPU of this host since the driver started, by "GPU0"; empty
/// without NVML (libnvidia-ml.so.1) or NVLinks.
std::map<std::string, std::uint64_t> nvlink_transmitted();

}  // namespace ucxbench
