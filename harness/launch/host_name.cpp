#include "harness/launch/host_name.hpp"

#include <limits.h>
#include <unistd.h>

#include <array>

namespace ucxbench {

std::string host_name() {
  std::array<char, HOST_NAME_MAX + 1> name{};
  ::gethostname(name.data(), name.size() - 1);
  return name.data();
}

}  // namespace ucxbench
