#include "workloads/merge/cpu_kernels.hpp"

#include <optional>
#include <utility>

#include "harness/core/activity.hpp"
#include "workloads/common/cpu.hpp"
#include "workloads/merge/cpu_join.hpp"
#include "workloads/merge/cpu_partition.hpp"

namespace ucxbench::merge {
namespace {

// Rows between two calls of the progress function where nothing else sets the pace.
constexpr std::uint64_t pace = 1U << 16U;

class CpuKernels : public Kernels {
 public:
  CpuKernels(Progress progress, const RowCode& code)
      : progress_(counting(std::move(progress))), code_(code) {}

  void generate(const Generator& generator, Side side, std::uint64_t first, std::uint64_t rows,
                std::uint32_t columns, std::uint64_t* out) override {
    for (std::uint64_t row = 0; row < rows; ++row) {
      if (row % pace == 0) progress_();
      out[row] = generator.key(side, first + row);
      for (std::uint32_t column = 1; column < columns; ++column) {
        out[column * rows + row] = generator.payload(side, first + row, column - 1);
      }
    }
  }

  std::vector<std::uint64_t> count(const Rows& table, const Spread& spread) override {
    return count_buckets(code_, table, spread, progress_);
  }

  void scatter(const Rows& table, std::uint32_t columns, const Spread& spread,
               const std::vector<std::uint64_t>& starts, const std::vector<std::uint64_t>& strides,
               std::uint64_t* out) override {
    scatter_rows(code_, table, columns, spread, starts, strides, out, progress_);
  }

  void reserve(std::uint32_t columns, std::uint64_t largest_build,
               const Allocate& allocate) override {
    join_.emplace(code_, columns, largest_build, allocate, progress_);
  }

  void build(std::span<const Rows> segments) override { join_->build(segments); }

  void probe(std::span<const Rows> segments, Joined& out) override {
    for (const auto& segment : segments) join_->probe(segment, out);
  }

  std::uint64_t key_sum(const Rows& rows) override {
    std::uint64_t sum = 0;
    in_pieces(rows.rows, [&](std::uint64_t row) { sum += hash_of(rows.words[row]); });
    return sum;
  }

  std::uint64_t misplaced_rows(const Rows& rows, const Spread& spread,
                               std::uint32_t rank) override {
    std::uint64_t count = 0;
    in_pieces(rows.rows, [&](std::uint64_t row) {
      const auto bucket = spread.bucket_of(hash_of(rows.words[row]));
      count += spread.rank_of(bucket) == rank ? 0 : 1;
    });
    return count;
  }

  Checksum checksum(const Joined& joined, std::uint32_t columns) override {
    Checksum all;
    const auto width = 2 * columns - 1;
    in_pieces(joined.rows, [&](std::uint64_t row) {
      std::uint64_t word = 0;
      for (std::uint32_t column = 0; column < width; ++column) {
        word = fold(word, joined.words[column * joined.capacity + row]);
      }
      all.add(word);
    });
    return all;
  }

  // Lines of 1024 buckets and two columns fill an eighth of a second-level cache.
  std::uint32_t most_buckets() const override { return 1024; }

  // A table fills half of a second-level cache.
  std::uint64_t cached_rows(std::uint32_t columns) const override {
    return (std::uint64_t{512} << 10U) / (2 * columns * sizeof(std::uint64_t));
  }

 private:
  template <typename Use>
  void in_pieces(std::uint64_t rows, Use use) {
    for (std::uint64_t row = 0; row < rows; ++row) {
      if (row % pace == 0) progress_();
      use(row);
    }
  }

  Progress progress_;
  RowCode code_;
  std::optional<LocalJoin> join_;
};

}  // namespace

std::unique_ptr<Kernels> make_cpu_kernels(Kernels::Progress progress, const RowCode& code) {
  return std::make_unique<CpuKernels>(std::move(progress), code);
}

std::unique_ptr<Kernels> make_cpu_kernels(Kernels::Progress progress) {
  const auto code = has_avx512() ? avx512_rows() : has_avx2() ? avx2_rows() : plain_rows();
  return make_cpu_kernels(std::move(progress), code);
}

}  // namespace ucxbench::merge
