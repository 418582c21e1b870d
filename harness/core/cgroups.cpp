#include "harness/core/cgroups.hpp"

#include <algorithm>
#include <fstream>
#include <system_error>

#include "harness/core/text.hpp"

namespace ucxbench {
namespace {

namespace fs = std::filesystem;

/// From the inside to the outside. A path with "..", of a process outside of what its namespace
/// shows, has only the root.
void add_with_those_around(const fs::path& hierarchy, const std::string& name,
                           std::vector<Cgroup>& found) {
  std::error_code absent;
  auto group = name.find("/..") == std::string::npos ? fs::path(name) : fs::path("/");
  while (true) {
    const bool root = !group.has_relative_path();
    const auto folder = root ? hierarchy : hierarchy / group.relative_path();
    if (fs::is_directory(folder, absent)) found.push_back({folder, group.string()});
    if (root) return;
    group = group.parent_path();
  }
}

}  // namespace

// Lines such as "4:cpu,cpuacct:/path" (version 1) and "0::/path" (version 2).
std::vector<Cgroup> own_cgroups(std::string_view controller, const fs::path& root) {
  const auto mounts = root / "sys/fs/cgroup";
  std::vector<Cgroup> first;
  std::vector<Cgroup> second;
  std::ifstream membership(root / "proc/self/cgroup");
  for (std::string line; std::getline(membership, line);) {
    const auto begin = line.find(':');
    const auto end = line.find(':', begin + 1);
    if (begin == std::string::npos || end == std::string::npos) continue;
    const auto controllers = line.substr(begin + 1, end - begin - 1);
    const auto name = line.substr(end + 1);
    if (controllers.empty()) {
      // Where version 1 is there, too, systemd mounts it below.
      std::error_code absent;
      const bool both = fs::is_directory(mounts / "unified", absent);
      add_with_those_around(both ? mounts / "unified" : mounts, name, second);
    } else if (std::ranges::count(split_text(controllers, ','), controller) != 0) {
      add_with_those_around(mounts / controller, name, first);
    }
  }
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

}  // namespace ucxbench
