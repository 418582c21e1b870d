#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "harness/memory/buffer.hpp"

namespace ucxbench {

/// Whether messages of any of these come from or go to a GPU.
bool any_on_gpu(const std::vector<MemoryKind>& kinds);

/// One value of --memory, "host" or "cuda,host": sent from, received into. Throws
/// Failure(Exit::usage).
std::vector<MemoryKind> parse_memory_pair(const std::string& text);

/// Which memory a command's ranks use, and of which GPUs. As typed.
struct MemoryOptions {
  std::vector<std::string> memory;
  std::string devices;
  std::string pool_size;
  bool no_pool = false;

  void add_options(CLI::App& command);
  void add_pool_size(CLI::App& command);
  /// For a command that does not measure both, with and without a pool.
  void add_no_pool(CLI::App& command);

  // Each throws Failure(Exit::usage).
  std::vector<std::vector<MemoryKind>> kinds() const;  ///< each pair: sent from, received into
  std::vector<int> gpus() const;                       ///< empty: all there are
  std::uint64_t pool_bytes() const;                    ///< 0: what is needed
};

/// --sizes, for `local_ranks` on this machine with `buffers` of the largest in each. Throws
/// Failure(Exit::usage), also for more than the available memory.
std::vector<std::uint64_t> message_sizes(const std::string& text, int local_ranks, int buffers);

}  // namespace ucxbench
