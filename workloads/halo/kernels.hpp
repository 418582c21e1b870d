#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "harness/memory/buffer.hpp"
#include "workloads/halo/formula.hpp"

namespace ucxbench::halo {

/// Which elements of a tile a step makes: those that need none of the neighbours', those on the
/// four edges, or all.
enum class Part { inside, edges, all };

/// What must come out, at an amplitude of the wave.
struct Expected {
  Waves waves;
  double amplitude = 1;
  double tolerance = 0;
};

/// What the workload does with memory: on the CPU, or on a GPU. A call returns when its work is
/// done; meanwhile it calls the progress function that the kernels were made with, so that messages
/// move while it computes.
class Kernels {
 public:
  using Progress = std::function<void()>;

  virtual ~Kernels() = default;

  /// Writes the tile at amplitude 1. What is around it becomes no number, so that an edge that
  /// never came shows.
  virtual void start(const Tile& tile, const Waves& waves, double* u) = 0;

  /// The first and the last column of the tile, without gaps.
  virtual void pack(const Tile& tile, const double* u, double* west, double* east) = 0;

  /// Puts the neighbours' columns beside the tile.
  virtual void unpack(const Tile& tile, const double* west, const double* east, double* u) = 0;

  /// v = one step of u.
  virtual void step(const Tile& tile, const double* u, double* v, Part part) = 0;

  /// For checking, outside the clock: how many elements of the tile are further from the closed
  /// form than its tolerance.
  virtual std::uint64_t wrong(const Tile& tile, const double* u, const Expected& expected) = 0;
};

std::unique_ptr<Kernels> make_cpu_kernels(Kernels::Progress progress);
/// `most_blocks`: of a launch whose blocks go on to other rows. The default fills any GPU. Throws
/// Failure(Exit::cannot_run).
std::unique_ptr<Kernels> make_cuda_kernels(Kernels::Progress progress,
                                           std::uint64_t most_blocks = 4096);

/// Why this program has nothing for GPU memory; empty if it has.
std::string why_no_cuda_kernels();

}  // namespace ucxbench::halo
