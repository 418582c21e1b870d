#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace ucxbench {

/// A group of processes that the kernel limits together, of a controller of version 1 or of the one
/// hierarchy of version 2 (cgroups(7)).
struct Cgroup {
  std::filesystem::path folder;  ///< where its files are
  std::string name;              ///< below its hierarchy, as the kernel names it: "/system.slice"
};

/// The group of this process for a controller ("memory", "cpu") and those around it, from the
/// inside to the outside: first of version 1, where the controller has a hierarchy of its own, then
/// of version 2. Only those whose folders are there; in a container the outermost is what it sees
/// as the root. `root` is another folder in tests.
std::vector<Cgroup> own_cgroups(std::string_view controller, const std::filesystem::path& root);

}  // namespace ucxbench
