#include "harness/launch/oom_kills.hpp"

#include <fstream>
#include <string>

#include "harness/core/cgroups.hpp"

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

// Those of the groups around it count other processes, too.
std::optional<OomKills> oom_kills(const std::filesystem::path& root) {
  const auto groups = own_cgroups("memory", root);
  for (const auto& group : groups) {
    if (group.name != groups.front().name) continue;
    for (const auto* counter : {"memory.oom_control", "memory.events"}) {
      if (const auto count = count_in(group.folder / counter)) return OomKills{group.name, *count};
    }
  }
  return std::nullopt;
}

}  // namespace ucxbench
