#pragma once

#include <map>
#include <string>
#include <utility>

namespace ucxbench {

/// The kernel's number of this boot, which no two hosts share; "" where the kernel has none.
std::string boot_id();

/// Hosts may have one name ("localhost", copies of a virtual machine), of which one host would be
/// made. The first keeps it, the next is "localhost (2)".
class HostNames {
 public:
  HostNames();
  /// `name` and `boot` are of this host, which keeps its name.
  HostNames(const std::string& name, const std::string& boot) { told_apart(name, boot); }

  std::string told_apart(const std::string& name, const std::string& boot);

 private:
  std::map<std::string, std::map<std::string, int>> numbers_;  ///< by name, then by boot
};

}  // namespace ucxbench
