#pragma once

#include <map>
#include <string>

#include "harness/result/result.hpp"

namespace ucxbench {

struct LoadedLibrary {
  std::string path;
  std::string build;  ///< how the linker's GNU build id begins; empty where there is none
};

/// "/lib/…/libucp.so.0 (build 1a2b3c4d5e6f)".
std::string in_words(const LoadedLibrary& library);

/// The shared libraries that this process has loaded by now, modules of UCX and LD_PRELOAD among
/// them, by the names of their files: "libucp.so.0".
std::map<std::string, LoadedLibrary> loaded_libraries();

/// The same for `ucx.libraries` of a run file: {"libucp.so.0": in_words of it}.
Json loaded_libraries_json();

}  // namespace ucxbench
