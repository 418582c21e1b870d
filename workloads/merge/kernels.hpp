#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "harness/memory/buffer.hpp"
#include "workloads/merge/generator.hpp"
#include "workloads/merge/rows.hpp"
#include "workloads/merge/spread.hpp"

namespace ucxbench::merge {

/// What the merge does with memory: on the CPU, or on a GPU. A call returns when its work is done;
/// meanwhile it calls the progress function that the kernels were made with, so that messages move
/// while it computes.
class Kernels {
 public:
  using Progress = std::function<void()>;
  /// Gives memory of so many bytes, of the kind that the kernels work in.
  using Allocate = std::function<Buffer(std::size_t)>;

  virtual ~Kernels() = default;

  /// Writes rows [first, first + rows) of one side, as columns `rows` words apart.
  virtual void generate(const Generator& generator, Side side, std::uint64_t first,
                        std::uint64_t rows, std::uint32_t columns, std::uint64_t* out) = 0;

  /// Rows of each bucket. What follows it is the scatter of the same table, which may make use of
  /// what was found out.
  virtual std::vector<std::uint64_t> count(const Rows& table, const Spread& spread) = 0;

  /// Copies every row to its bucket: column c of the bucket's first row goes to
  /// out[starts[bucket] + c * strides[bucket's block]], later ones after it.
  virtual void scatter(const Rows& table, std::uint32_t columns, const Spread& spread,
                       const std::vector<std::uint64_t>& starts,
                       const std::vector<std::uint64_t>& strides, std::uint64_t* out) = 0;

  /// Takes memory for hash tables of up to `largest_build` rows.
  virtual void reserve(std::uint32_t columns, std::uint64_t largest_build,
                       const Allocate& allocate) = 0;

  /// Makes a hash table of these rows, whose keys are unique, in place of the last one; and looks
  /// these rows up in it. What there is no room for is left out: other rows have come than were
  /// sent, which verification finds, and it can say what is wrong with them.
  virtual void build(std::span<const Rows> segments) = 0;
  virtual void probe(std::span<const Rows> segments, Joined& out) = 0;

  /// For checking, outside the clock: the sum of the keys' hashes, modulo 2^64; how many rows
  /// belong to another rank than `rank`; what was joined, as if payloads had no `salt`.
  virtual std::uint64_t key_sum(const Rows& rows) = 0;
  virtual std::uint64_t misplaced_rows(const Rows& rows, const Spread& spread,
                                       std::uint32_t rank) = 0;
  virtual Checksum checksum(const Joined& joined, std::uint32_t columns, std::uint64_t salt) = 0;

  /// The most buckets that a partition pass of so many columns fills at full speed; on a GPU, that
  /// it can fill.
  virtual std::uint32_t most_buckets(std::uint32_t columns) const = 0;

  /// Build rows of so many columns whose hash table fits the cache that probing goes through.
  virtual std::uint64_t cached_rows(std::uint32_t columns) const = 0;
};

std::unique_ptr<Kernels> make_cpu_kernels(Kernels::Progress progress);
/// `most_blocks`: of a launch whose blocks go on to other rows. The default fills any GPU. Throws
/// Failure(Exit::cannot_run).
std::unique_ptr<Kernels> make_cuda_kernels(Kernels::Progress progress,
                                           std::uint64_t most_blocks = 4096);

/// Why this program has nothing for GPU memory; empty if it has.
std::string why_no_cuda_kernels();

}  // namespace ucxbench::merge
