#include "harness/launch/host_name.hpp"

#include <limits.h>
#include <unistd.h>

#include <array>

namespace ucxbench {

std::string host_name() {
  std::array<char, HOST_NAME_MAX + 1> name{};
  // Linux allows HOST_NAME_MAX characters, and a null byte behind them.
  ::gethostname(name.data(), name.size());
  return name.data();
}

}  // namespace ucxbench
