#pragma once

#include "harness/result/result.hpp"

namespace ucxbench {

/// The shared libraries that this process has loaded by now, modules of UCX and LD_PRELOAD among
/// them, for `ucx.libraries`: {"libucp.so.0": "/lib/…/libucp.so.0 (build 1a2b3c4d5e6f)"}, the build
/// being the linker's GNU build id where there is one.
Json loaded_libraries();

}  // namespace ucxbench
