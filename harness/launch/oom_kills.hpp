#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace ucxbench {

/// What the kernel counts of a memory cgroup: processes in it, or below it, that its OOM killer
/// killed.
struct OomKills {
  std::string cgroup;  ///< as /proc/self/cgroup names it
  std::uint64_t count = 0;
};

/// Of the cgroup of this process, in which its ranks are, too. Empty where nobody counts: version 1
/// without the memory controller, or a kernel before 4.13.
std::optional<OomKills> oom_kills(const std::filesystem::path& root = "/");

}  // namespace ucxbench
