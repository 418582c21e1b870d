#include <algorithm>
#include <optional>
#include <utility>

#include "workloads/common/cuda_work.hpp"
#include "workloads/merge/cuda_arguments.hpp"
#include "workloads/merge/kernels.hpp"

extern "C" const unsigned char merge_kernels[];  // the fat binary of cuda_kernels.cu

namespace ucxbench::merge {
namespace {

// Words that kernels read and add to: of each bucket its rows, where it starts, and its stride.
constexpr std::size_t most_words = std::size_t{3} * most_cuda_buckets;

std::uint64_t* words_of(Buffer& buffer) { return reinterpret_cast<std::uint64_t*>(buffer.data()); }

class CudaKernels : public Kernels {
 public:
  CudaKernels(Progress progress, std::uint64_t most_blocks)
      : work_(merge_kernels, most_words, std::move(progress)), most_blocks_(most_blocks) {}

  void generate(const Generator& generator, Side side, std::uint64_t first, std::uint64_t rows,
                std::uint32_t columns, std::uint64_t* out) override {
    if (generator.setup().skew > 0)
      return generate_here(generator, side, first, rows, columns, out);
    work_.launch(grid_for(rows), GenerateArguments{.formula = generator.formula(),
                                                   .side = side,
                                                   .columns = columns,
                                                   .first = first,
                                                   .rows = rows,
                                                   .out = out});
    work_.finish();
  }

  std::vector<std::uint64_t> count(const Rows& table, const Spread& spread) override {
    return work_.with_words(
        std::vector<std::uint64_t>(spread.buckets()), [&](std::uint64_t* counts) {
          work_.launch(grid_for(table.rows),
                       CountArguments{.table = table, .spread = spread, .counts = counts});
        });
  }

  void scatter(const Rows& table, std::uint32_t columns, const Spread& spread,
               const std::vector<std::uint64_t>& starts, const std::vector<std::uint64_t>& strides,
               std::uint64_t* out) override {
    if (table.rows == 0) return;
    std::vector<std::uint64_t> words(spread.buckets());
    words.insert(words.end(), starts.begin(), starts.end());
    words.insert(words.end(), strides.begin(), strides.end());
    const auto tiles = static_cast<unsigned>((table.rows + tile_rows - 1) / tile_rows);
    work_.with_words(words, [&](std::uint64_t* filled) {
      work_.launch(CudaGrid{.blocks = tiles, .threads = block_threads},
                   ScatterArguments{.table = table,
                                    .spread = spread,
                                    .columns = columns,
                                    .starts = filled + spread.buckets(),
                                    .strides = filled + 2 * std::size_t{spread.buckets()},
                                    .filled = filled,
                                    .out = out});
    });
  }

  void reserve(std::uint32_t columns, std::uint64_t largest_build,
               const Allocate& allocate) override {
    largest_build_ = largest_build;
    table_memory_ = allocate(slots_for(largest_build) * columns * sizeof(std::uint64_t));
    table_ = {.words = words_of(*table_memory_), .slots = 0, .columns = columns};
  }

  void build(std::span<const Rows> segments) override {
    std::uint64_t rows = 0;
    for (const auto& segment : segments) rows += segment.rows;
    if (rows > largest_build_) {
      segments = {};
      rows = 0;
    }
    table_.slots = slots_for(rows);
    work_.launch(grid_for(table_.slots * table_.columns), ClearArguments{table_});
    for_groups(segments, [&](const Segments& group, const CudaGrid& grid) {
      work_.launch(grid, BuildArguments{.table = table_, .segments = group});
    });
    work_.finish();
  }

  void probe(std::span<const Rows> segments, Joined& out) override {
    const auto found = work_.with_words({0}, [&](std::uint64_t* cursor) {
      for_groups(segments, [&](const Segments& group, const CudaGrid& grid) {
        work_.launch(
            grid, ProbeArguments{.table = table_, .out = out, .found = cursor, .segments = group});
      });
    });
    if (found.front() <= out.capacity - out.rows) out.rows += found.front();
  }

  std::uint64_t key_sum(const Rows& rows) override {
    return work_
        .with_words({0},
                    [&](std::uint64_t* sum) {
                      work_.launch(grid_for(rows.rows), KeySumArguments{rows, sum});
                    })
        .front();
  }

  std::uint64_t misplaced_rows(const Rows& rows, const Spread& spread,
                               std::uint32_t rank) override {
    return work_
        .with_words({0},
                    [&](std::uint64_t* count) {
                      work_.launch(grid_for(rows.rows),
                                   MisplacedRowsArguments{rows, spread, rank, count});
                    })
        .front();
  }

  Checksum checksum(const Joined& joined, std::uint32_t columns, std::uint64_t salt) override {
    const auto words = work_.with_words({0, 0}, [&](std::uint64_t* sum) {
      work_.launch(grid_for(joined.rows), ChecksumArguments{joined, columns, salt, sum});
    });
    return {.rows = joined.rows, .sum = words[0], .parity = words[1]};
  }

  std::uint32_t most_buckets(std::uint32_t) const override { return most_cuda_buckets; }

  // 32 MiB of slots: the second-level cache of an H200 has 50.
  std::uint64_t cached_rows(std::uint32_t columns) const override {
    return (std::uint64_t{32} << 20U) / (2 * columns * sizeof(std::uint64_t));
  }

 private:
  // What is more than the most blocks goes round again.
  CudaGrid grid_for(std::uint64_t rows, std::size_t segments = 1) const {
    const auto blocks = (rows + block_threads - 1) / block_threads;
    return {.blocks = static_cast<unsigned>(std::clamp<std::uint64_t>(blocks, 1, most_blocks_)),
            .rows_of_blocks = static_cast<unsigned>(segments),
            .threads = block_threads};
  }

  static std::uint64_t slots_for(std::uint64_t rows) {
    return std::max<std::uint64_t>(2 * rows, 64);
  }

  // Host and GPU would not round alike.
  void generate_here(const Generator& generator, Side side, std::uint64_t first, std::uint64_t rows,
                     std::uint32_t columns, std::uint64_t* out) {
    constexpr std::uint64_t step = std::uint64_t{1} << 20U;
    std::vector<std::uint64_t> values(std::min(step, rows));
    const auto send_column = [&](std::uint32_t column, auto value_of) {
      for (std::uint64_t at = 0; at < rows; at += step) {
        const auto count = std::min(step, rows - at);
        for (std::uint64_t i = 0; i < count; ++i) values[i] = value_of(first + at + i);
        copy_bytes(MemoryKind::cuda, out + column * rows + at, values.data(),
                   count * sizeof(std::uint64_t));
        work_.progress();
      }
    };
    send_column(0, [&](std::uint64_t row) { return generator.key(side, row); });
    for (std::uint32_t column = 1; column < columns; ++column) {
      send_column(column,
                  [&](std::uint64_t row) { return generator.payload(side, row, column - 1); });
    }
  }

  // A launch takes so many segments, each with blocks for the longest of them.
  template <typename Launch>
  void for_groups(std::span<const Rows> segments, Launch launch) const {
    for (std::size_t first = 0; first < segments.size(); first += most_segments) {
      const auto group =
          segments.subspan(first, std::min<std::size_t>(most_segments, segments.size() - first));
      Segments taken{};
      std::copy(group.begin(), group.end(), taken.rows);
      const auto longest = std::max_element(
          group.begin(), group.end(), [](const Rows& a, const Rows& b) { return a.rows < b.rows; });
      launch(taken, grid_for(longest->rows, group.size()));
    }
  }

  CudaWork work_;
  std::uint64_t most_blocks_;
  std::optional<Buffer> table_memory_;
  HashTable table_{};
  std::uint64_t largest_build_ = 0;
};

}  // namespace

std::string why_no_cuda_kernels() { return ""; }

std::unique_ptr<Kernels> make_cuda_kernels(Kernels::Progress progress, std::uint64_t most_blocks) {
  return std::make_unique<CudaKernels>(std::move(progress), most_blocks);
}

}  // namespace ucxbench::merge
