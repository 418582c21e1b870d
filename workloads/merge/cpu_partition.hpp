#pragma once

#include <cstdint>
#include <vector>

#include "workloads/merge/cpu_rows.hpp"
#include "workloads/merge/kernels.hpp"

namespace ucxbench::merge {

/// Which of so many pieces a row belongs to: one half of its key's hash says it.
struct Pieces {
  decltype(RowCode::upper_pieces) find;
  std::uint64_t count;
};

/// Adds to `counts` how many rows are in each piece; piece[i] becomes row i's.
void count_rows(const Rows& rows, const Pieces& pieces, const Kernels::Progress& progress,
                std::vector<std::uint64_t>& counts, std::uint32_t* piece);

/// Copies rows to their pieces.
class Scatter {
 public:
  /// By piece: the index in `out`, which begins at a cache line, of its first row's key; how many
  /// words on the next column is, whole lines of them.
  Scatter(const RowCode& code, std::uint32_t columns, std::vector<std::uint64_t> starts,
          std::vector<std::uint64_t> strides, std::uint64_t* out);

  void add(const Rows& rows, const std::uint32_t* piece, const Kernels::Progress& progress);
  /// After the last row: what has filled no line is written, too.
  void finish();

 private:
  RowCode code_;
  std::vector<std::uint64_t> starts_, strides_;
  std::vector<Line> lines_;
  Scattering scattering_;
};

}  // namespace ucxbench::merge
