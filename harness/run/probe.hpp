#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/comm/mpi_library.hpp"
#include "harness/memory/cuda_driver.hpp"
#include "harness/result/result.hpp"
#include "harness/transports/known_settings.hpp"
#include "harness/transports/resources.hpp"

namespace ucxbench {

/// What a process of its own found out, so that this one starts neither UCX nor CUDA: ranks are
/// forked by a process that never has.
struct Probe {
  UcxResources ucx;
  std::vector<CudaDevice> gpus;
  std::string no_cuda;  ///< why CUDA cannot be used here; empty when it can, or was not asked for
  MpiFound mpi;         ///< `why_not` also where it was not asked for
  Json libraries{};     ///< {"libucp.so.0": {"path", "build"}}: what it had loaded in the end
  /// Of the UCX_* in its environment, and of ProbeFor::values, what UCX cannot read.
  std::vector<UnreadableSetting> unreadable{};
  Json topology;  ///< this host's graph as JSON; null when it was not asked for, or not found
};

void to_json(Json& json, const Probe& found);
void from_json(const Json& json, Probe& found);

/// What is asked beside UCX.
struct ProbeFor {
  bool cuda = false;
  bool topology = false;
  bool mpi = false;
  std::vector<std::pair<std::string, std::string>>
      values{};  ///< of UCX's variables: can it read them
};

/// Why a transport of `transports()` cannot be used here, without its name before; empty: it
/// can. Where CUDA was asked for and there is no GPU, nvlink lacks that, whatever UCX was built
/// with.
std::string why_not_here(std::string_view transport, const Probe& found);

/// The hidden command by which this program asks.
inline constexpr const char* probe_command = "__probe";

/// With this word it only opens UCX as a rank does, by the environment: for what UCX says then.
inline constexpr const char* open_word = "open";

/// What that process, asked with these words, prints and returns.
int probe_main(std::span<const char* const> words);

/// Runs `ucx-bench __probe` and reads its answer, within 20 s. Throws Failure(Exit::cannot_run)
/// with UCX's own words when UCX fails.
Probe probe(const ProbeFor& asked = {});

}  // namespace ucxbench
