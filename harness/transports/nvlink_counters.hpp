#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace ucxbench {

/// Bytes sent over all NVLinks of each GPU of this host since the driver started, by "GPU0"; empty
/// without NVML (libnvidia-ml.so.1) or NVLinks.
std::map<std::string, std::uint64_t> nvlink_transmitted();

/// Errors on all NVLinks of each GPU, by "GPU0/crc_data_error": crc_flit_error, crc_data_error,
/// replay_error, recovery_error. Empty where the driver does not tell.
std::map<std::string, std::uint64_t> nvlink_errors();

}  // namespace ucxbench
