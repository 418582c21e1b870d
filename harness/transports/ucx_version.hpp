#pragma once

#include <ucp/api/ucp.h>

#include <compare>
#include <string>

namespace ucxbench {

/// Of a libucp.
struct UcxVersion {
  unsigned major = 0, minor = 0, release = 0;

  auto operator<=>(const UcxVersion&) const = default;
};

/// Of the one that this process has loaded.
inline UcxVersion ucx_version() {
  UcxVersion version;
  ucp_get_version(&version.major, &version.minor, &version.release);
  return version;
}

/// "1.13.1".
inline std::string to_string(const UcxVersion& version) {
  return std::to_string(version.major) + "." + std::to_string(version.minor) + "." +
         std::to_string(version.release);
}

}  // namespace ucxbench
