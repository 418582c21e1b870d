#include "harness/launch/oom_kills.hpp"

#include <fstream>
#include <string_view>

namespace ucxbench {
namespace {

/// "oom_kill 3", among other lines.
std::optional<std::uint64_t> count_in(const std::filesystem::path& file) {
  std::ifstream lines(file);
  std::string name;
  std::uint64_t count = 0;
  while (lines >> name >> count) {
    if (name == "oom_kill") return count;
  }
  return std::nullopt;
}

}  // namespace

// Of "4:memory:/path" (version 1) and "0::/path" (version 2) the first that counts.
std::optional<OomKills> oom_kills(const std::filesystem::path& root) {
  const auto cgroups = root / "sys/fs/cgroup";
  std::ifstream membership(root / "proc/self/cgroup");
  for (std::string line; std::getline(membership, line);) {
    const auto controllers = line.find(':');
    const auto path = line.find(':', controllers + 1);
    if (path == std::string::npos) continue;
    const auto named = std::string_view(line).substr(controllers + 1, path - controllers - 1);
    const auto own = line.substr(path + 1);
    if (named == "memory") {
      if (const auto count = count_in(cgroups / ("memory" + own) / "memory.oom_control")) {
        return OomKills{own, *count};
      }
    } else if (named.empty()) {
      if (const auto count = count_in(cgroups / own.substr(1) / "memory.events")) {
        return OomKills{own, *count};
      }
    }
  }
  return std::nullopt;
}

}  // namespace ucxbench
