#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "workloads/merge/formula.hpp"
#include "workloads/merge/spread.hpp"

namespace ucxbench::merge {

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

  /// The keys stay, and all payloads become others.
  void salt(std::uint64_t salt) { formula_.salt = salt; }

  const Setup& setup() const { return setup_; }
  std::uint64_t rows() const { return formula_.rows; }

  /// The same rows as the functions below, unless there is skew.
  const Formula& formula() const { return formula_; }

  std::uint64_t key(Side side, std::uint64_t row) const {
    return side == Side::build ? formula_.build_key(row) : probe_key(row);
  }
  std::uint64_t payload(Side side, std::uint64_t row, std::uint32_t column) const {
    return formula_.payload(side, row, column);
  }

  /// The build row that probe row q meets.
  std::optional<std::uint64_t> match_of(std::uint64_t q) const;

  /// Matches of the whole join.
  std::uint64_t matches() const { return formula_.matches; }

 private:
  std::uint64_t probe_key(std::uint64_t row) const;
  std::uint64_t popular_row(std::uint64_t q) const;

  Setup setup_;
  Formula formula_;
};

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
