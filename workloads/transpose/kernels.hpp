#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "harness/memory/buffer.hpp"
#include "workloads/transpose/generator.hpp"
#include "workloads/transpose/layout.hpp"

namespace ucxbench::transpose {

/// What the transpose does with memory: on the CPU, or on a GPU. A call returns when its work is
/// done; meanwhile it calls the progress function that the kernels were made with, so that messages
/// move while it computes. Tiles of x are row-major without gaps, rows of y `row_stride` apart.
class Kernels {
 public:
  using Progress = std::function<void()>;

  virtual ~Kernels() = default;

  /// Writes a tile of the array of `size` rows.
  virtual void generate(std::uint64_t size, const Tile& tile, double* x) = 0;

  /// y = x + tᵀ, t being the tile of the array that stands at `tile.transposed()`. May also write
  /// the gaps of y.
  virtual void add(const Tile& tile, const double* x, const double* t, double* y) = 0;

  /// The same for two tiles that are both here: also u = t + xᵀ, which is yᵀ. A tile with itself is
  /// x = t and y = u.
  virtual void add_both(const Tile& tile, const double* x, const double* t, double* y,
                        double* u) = 0;

  /// As add, without keeping y; what it adds up to.
  virtual Checksum add_to_sum(const Tile& tile, const double* x, const double* t) = 0;

  /// For checking, outside the clock: what is in y. What is no whole number counts as its bits.
  virtual Checksum checksum(const Tile& tile, const double* y) = 0;
};

std::unique_ptr<Kernels> make_cpu_kernels(Kernels::Progress progress);
/// `most_blocks`: of a launch whose blocks go on to other rows. The default fills any GPU. Throws
/// Failure(Exit::cannot_run).
std::unique_ptr<Kernels> make_cuda_kernels(Kernels::Progress progress,
                                           std::uint64_t most_blocks = 4096);

/// Why this program has nothing for GPU memory; empty if it has.
std::string why_no_cuda_kernels();

}  // namespace ucxbench::transpose
