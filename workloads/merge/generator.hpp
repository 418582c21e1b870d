#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "harness/core/pattern.hpp"
#include "workloads/merge/spread.hpp"

namespace ucxbench::merge {

enum class Side : std::uint32_t { build = 0, probe = 1 };

/// The rows of both tables as functions of their numbers, so that any rank can say what any row,
/// and the whole join, must be. Build keys are unique. Rows are numbered over all ranks; rank r has
/// [r·L, (r+1)·L).
class Generator {
 public:
  enum class Kind {
    /// Build row g has the key mix64(g). Probe row q takes r = (a·q + b) mod LN, a permutation, and
    /// has the key of build row r if r < M, else one that no build row has: M = ⌊f·LN⌋ matches.
    permuted,
    /// As dask-cuda's local_cudf_merge.py makes them: build keys count up; rank i's probe rows take
    /// from each rank's i-th sub-range of ⌊L/N⌋ keys m = max(⌊⌊L/N⌋·f⌋, 1), and fill up with keys
    /// that no build row has: N²·m matches.
    dask,
  };

  struct Setup {
    Kind kind = Kind::permuted;
    std::uint64_t rows_per_rank = 1;  ///< L
    std::uint64_t ranks = 1;          ///< N
    double frac_match = 0.3;          ///< f
    /// Exponent s of a Zipf-like choice of the build row that a matching probe row has: the k-th
    /// most popular one is taken in proportion to k^-s (a bounded Pareto distribution, rounded
    /// down). 0: each matched row once. Of Kind::permuted only.
    double skew = 0;
  };

  explicit Generator(const Setup& setup);

  const Setup& setup() const { return setup_; }
  std::uint64_t rows() const { return rows_; }

  std::uint64_t key(Side side, std::uint64_t row) const {
    return side == Side::build ? build_key(row) : probe_key(row);
  }
  std::uint64_t payload(Side side, std::uint64_t row, std::uint32_t column) const {
    return mix64(row * 0x9e3779b97f4a7c15U + 2 * std::uint64_t{column} +
                 static_cast<std::uint64_t>(side) + 1);
  }

  /// The build row that probe row q meets.
  std::optional<std::uint64_t> match_of(std::uint64_t q) const;

  /// Matches of the whole join.
  std::uint64_t matches() const { return matches_; }

 private:
  std::uint64_t build_key(std::uint64_t row) const {
    return setup_.kind == Kind::dask ? row : mix64(row);
  }
  std::uint64_t probe_key(std::uint64_t row) const;
  std::uint64_t permuted(std::uint64_t row) const {
    return (multiplier_ * row + offset_) % period_;
  }
  std::uint64_t popular_row(std::uint64_t q) const;

  Setup setup_;
  std::uint64_t rows_;        ///< LN
  std::uint64_t matches_;     ///< M, or N²·m
  std::uint64_t period_;      ///< of the permutation: LN, or L for dask
  std::uint64_t multiplier_;  ///< coprime to the period, below 2^26
  std::uint64_t offset_;
  std::uint64_t from_each_ = 0;  ///< m of dask
};

Generator::Kind parse_generator(std::string_view name);
std::string_view to_string(Generator::Kind kind);

/// No build key is this one: the mark of an empty slot.
inline constexpr std::uint64_t no_key = mix64(~std::uint64_t{0});

/// A matched row as one word: of its key and all payloads, the build side's first. Sums and XORs of
/// it do not depend on where or in which order rows are joined.
inline std::uint64_t fold(std::uint64_t so_far, std::uint64_t value) {
  return mix64(so_far ^ value) + 0x9e3779b97f4a7c15U;
}

/// What a join must give, or gave.
struct Checksum {
  std::uint64_t rows = 0;
  std::uint64_t sum = 0;     ///< of the rows' words, modulo 2^64
  std::uint64_t parity = 0;  ///< XOR of them

  void add(std::uint64_t word) {
    ++rows;
    sum += word;
    parity ^= word;
  }
  void add(const Checksum& other) {
    rows += other.rows;
    sum += other.sum;
    parity ^= other.parity;
  }
  bool operator==(const Checksum&) const = default;
};

/// What probe rows [first, last) add to the result of each rank. `payload_columns` of each side.
std::vector<Checksum> expected(const Generator& generator, const Spread& spread,
                               std::uint32_t payload_columns, std::uint64_t first,
                               std::uint64_t last);

}  // namespace ucxbench::merge
