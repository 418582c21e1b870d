#include "harness/run/hosts.hpp"

#include <fmt/format.h>

#include "harness/core/files.hpp"
#include "harness/launch/host_name.hpp"

namespace ucxbench {

std::string boot_id() { return first_line("/proc/sys/kernel/random/boot_id"); }

HostNames::HostNames() : HostNames(host_name(), boot_id()) {}

std::string HostNames::told_apart(const std::string& name, const std::string& boot) {
  auto& boots = numbers_[name];
  const auto number = boots.emplace(boot, static_cast<int>(boots.size()) + 1).first->second;
  return number == 1 ? name : fmt::format("{} ({})", name, number);
}

}  // namespace ucxbench
