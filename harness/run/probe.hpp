#pragma once

#include <string>
#include <vector>

#include "harness/comm/resources.hpp"
#include "harness/memory/cuda_driver.hpp"

namespace ucxbench {

/// What a process of its own found out, so that this one starts neither UCX nor CUDA: ranks are
/// forked by a process that never has.
struct Probe {
  UcxResources ucx;
  std::vector<CudaDevice> gpus;
  std::string no_cuda;  ///< why CUDA cannot be used here; empty when it can, or was not asked for
};

/// The hidden command by which this program asks, and its optional word for asking CUDA too.
inline constexpr const char* probe_command = "__probe";
inline constexpr const char* probe_cuda_word = "cuda";

/// What that process prints and returns.
int probe_main(bool cuda);

/// Runs `ucx-bench __probe` and reads its answer, within 20 s. Throws Failure(Exit::cannot_run)
/// with UCX's own words when UCX fails.
Probe probe(bool cuda);

}  // namespace ucxbench
