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
    std::vector<std::uint64_t> counts(spread.buckets());
    buckets_.resize(table.rows);
    count_rows(table, {code_.upper_pieces, spread.buckets()}, progress_, counts, buckets_.data());
    return counts;
  }

  void scatter(const Rows& table, std::uint32_t columns, const Spread& spread,
               const std::vector<std::uint64_t>& starts, const std::vector<std::uint64_t>& strides,
               std::uint64_t* out) override {
    std::vector<std::uint64_t> strides_of_buckets;
    for (std::size_t bucket = 0; bucket < starts.size(); ++bucket) {
      strides_of_buckets.push_back(strides[bucket / spread.parts]);
    }
    Scatter scatter(code_, columns, starts, std::move(strides_of_buckets), out);
    scatter.add(table, buckets_.data(), progress_);
    scatter.finish();
  }

  void reserve(std::uint32_t columns, std::uint64_t largest_build,
               const Allocate& allocate) override {
    join_.emplace(code_, columns, largest_build, allocate, progress_);
  }

  void build(std::span<const Rows> segments) override { join_->build(segments); }

  void probe(std::span<const Rows> segments, Joined& out) override { join_->probe(segments, out); }

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

  Checksum checksum(const Joined& joined, std::uint32_t columns, std::uint64_t salt) override {
    Checksum all;
    const auto width = 2 * columns - 1;
    in_pieces(joined.rows, [&](std::uint64_t row) {
      auto word = fold(0, joined.words[row]);
      for (std::uint32_t column = 1; column < width; ++column) {
        word = fold(word, joined.words[column * joined.capacity + row] ^ salt);
      }
      all.add(word);
    });
    return all;
  }

  // Their lines, or a table, fill half of a second-level cache. With two columns 4096 buckets cost
  // a fifth more than 64, and four times too large a table half as much again to fill and search.
  std::uint32_t most_buckets(std::uint32_t columns) const override {
    return static_cast<std::uint32_t>(LocalJoin::cache_bytes / (columns * sizeof(Line)));
  }
  std::uint64_t cached_rows(std::uint32_t columns) const override {
    return LocalJoin::cache_bytes / (2 * columns * sizeof(std::uint64_t));
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
  std::vector<std::uint32_t> buckets_;  ///< of the rows that were counted last
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
