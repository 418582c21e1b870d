#include "harness/launch/host_name.hpp"

#include <sys/utsname.h>

namespace ucxbench {

std::string host_name() {
  utsname host{};
  ::uname(&host);
  return host.nodename;
}

}  // namespace ucxbench
