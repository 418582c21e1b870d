#pragma once

// For tests.

#include <filesystem>
#include <string>

#include "harness/core/files.hpp"

namespace ucxbench {

/// Topologies of machines as several tools print them: made by hand from the public formats.
inline std::filesystem::path fixture(const std::string& name) {
  return std::filesystem::path(UCXBENCH_FIXTURES) / name;
}

}  // namespace ucxbench
