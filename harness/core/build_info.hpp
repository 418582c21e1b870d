#pragma once

#include <string>

namespace ucxbench {

// What this program was made from. It goes into every results file, so that a number can be traced
// to its source.
struct BuildInfo {
  std::string version;     // of the project, as in "0.1.0"
  std::string commit;      // 40 hexadecimal digits, or "unknown" outside its own git checkout
  bool dirty;              // tracked files differed from that commit when it was last built
  std::string compiler;    // as in "GNU 12.2.0"
  std::string flags;       // of the build type and the sanitizers
  std::string build_type;  // as in "Release"
};

const BuildInfo& build_info();

}  // namespace ucxbench
