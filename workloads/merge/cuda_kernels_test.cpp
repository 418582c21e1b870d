// The kernels of a GPU against those of the CPU, on a real GPU or on the emulated driver.

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <optional>
#include <vector>

#include "harness/core/failure.hpp"
#include "workloads/common/cuda_test.hpp"
#include "workloads/merge/kernels.hpp"

namespace ucxbench::merge {
namespace {

constexpr std::uint32_t columns = 3;

/// Words in memory of one kind.
class Memory {
 public:
  Memory(MemoryKind kind, std::uint64_t words)
      : count_(words), buffer_(kind, std::max<std::uint64_t>(words, 1) * sizeof(std::uint64_t)) {}

  std::uint64_t* words() { return reinterpret_cast<std::uint64_t*>(buffer_.data()); }
  std::vector<std::uint64_t> read() {
    std::vector<std::uint64_t> copy(count_);
    copy_bytes(buffer_.kind(), copy.data(), buffer_.data(), count_ * sizeof(std::uint64_t));
    return copy;
  }

 private:
  std::uint64_t count_;
  Buffer buffer_;
};

/// Everything that one kind of kernels makes of two tables of a size, in an order of its own.
struct Made {
  std::vector<std::uint64_t> generated, counts, scattered;
  std::uint64_t key_sum = 0, strangers = 0;
  Checksum joined;
};

Made make(MemoryKind kind, std::uint64_t rows, const Spread& spread, double skew = 0) {
  std::uint64_t calls = 0;
  const auto kernels = make_kernels(kind, [&] { ++calls; });
  const Generator generator({.rows_per_rank = rows, .frac_match = 0.5, .skew = skew});
  Made made;
  kernels->reserve(columns, rows, [&](std::size_t bytes) { return Buffer(kind, bytes); });
  std::array<std::optional<Memory>, 2> tables;
  for (const auto side : {Side::build, Side::probe}) {
    auto& table = tables[static_cast<std::size_t>(side)].emplace(kind, rows * columns);
    kernels->generate(generator, side, 0, rows, columns, table.words());
    const auto words = table.read();
    made.generated.insert(made.generated.end(), words.begin(), words.end());
  }
  const Rows table{tables[1]->words(), rows, rows};
  made.counts = kernels->count(table, spread);
  made.key_sum = kernels->key_sum(table);
  made.strangers = kernels->strangers(table, spread, 0);

  Memory partitioned(kind, rows * columns);
  std::vector<std::uint64_t> strides;
  for (const auto& block : blocks_of(spread, made.counts)) strides.push_back(block.rows);
  kernels->scatter(table, columns, spread, bucket_words(spread, made.counts, columns), strides,
                   partitioned.words());
  made.scattered = partitioned.read();

  // In three segments, one of them empty and one longer than the others.
  const auto piece = rows / 3;
  const auto segments = [&](Memory& memory) {
    return std::vector<Rows>{{memory.words(), piece, rows},
                             {memory.words() + piece, 0, rows},
                             {memory.words() + piece, rows - piece, rows}};
  };
  Memory out(kind, (rows + Joined::slack) * (2 * columns - 1));
  Joined joined{.words = out.words(), .capacity = rows + Joined::slack};
  kernels->build(segments(*tables[0]));
  kernels->probe(segments(*tables[1]), joined);
  made.joined = kernels->checksum(joined, columns);
  return made;
}

// Rows of one bucket may come in any order, the same for all columns.
std::vector<std::vector<std::uint64_t>> sorted_rows(const Made& made, const Spread& spread) {
  std::vector<std::vector<std::uint64_t>> rows;
  const auto starts = bucket_words(spread, made.counts, columns);
  const auto blocks = blocks_of(spread, made.counts);
  for (std::size_t bucket = 0; bucket < starts.size(); ++bucket) {
    const auto first = rows.size();
    for (std::uint64_t row = 0; row < made.counts[bucket]; ++row) {
      auto& words = rows.emplace_back();
      for (std::uint32_t column = 0; column < columns; ++column) {
        const auto stride = column * blocks[bucket / spread.parts].rows;
        words.push_back(made.scattered[starts[bucket] + stride + row]);
      }
    }
    std::sort(rows.begin() + static_cast<std::ptrdiff_t>(first), rows.end());
  }
  return rows;
}

class CudaKernels : public OnGpu {
 protected:
  CudaKernels() : OnGpu(why_no_cuda_kernels()) {}
};

TEST_F(CudaKernels, DoWhatTheCpuDoes) {
  // Around the sizes of a warp, a block and a tile, and with all 256 buckets.
  for (const std::uint64_t rows : {1U, 31U, 257U, 4095U, 4096U, 4097U, 100'003U}) {
    for (const Spread spread : {Spread{1, 1, 1}, Spread{3, 2, 5}, Spread{4, 4, 16}}) {
      SCOPED_TRACE(testing::Message() << rows << " rows, " << spread.buckets() << " buckets");
      const auto here = make(MemoryKind::host, rows, spread);
      const auto there = make(MemoryKind::cuda, rows, spread);
      EXPECT_EQ(here.generated, there.generated);
      EXPECT_EQ(here.counts, there.counts);
      EXPECT_EQ(sorted_rows(here, spread), sorted_rows(there, spread));
      EXPECT_EQ(here.key_sum, there.key_sum);
      EXPECT_EQ(here.strangers, there.strangers);
      EXPECT_EQ(here.joined, there.joined);
      EXPECT_EQ(there.joined.rows, rows / 2);
    }
  }
}

TEST_F(CudaKernels, TakeSkewedKeysFromTheHost) {
  const auto here = make(MemoryKind::host, 10'000, {}, 1.1);
  const auto there = make(MemoryKind::cuda, 10'000, {}, 1.1);
  EXPECT_EQ(here.generated, there.generated);
  EXPECT_EQ(here.joined, there.joined);
}

TEST_F(CudaKernels, RefuseWhatDoesNotFit) {
  const auto kernels = make_kernels(MemoryKind::cuda, [] {});
  Memory table(MemoryKind::cuda, std::uint64_t{100} * columns);
  const Generator generator({.rows_per_rank = 100, .frac_match = 1});
  kernels->generate(generator, Side::build, 0, 100, columns, table.words());
  const std::vector<Rows> all = {{table.words(), 100, 100}};

  const auto allocate = [](std::size_t bytes) { return Buffer(MemoryKind::cuda, bytes); };
  kernels->reserve(columns, 99, allocate);
  EXPECT_THROW(kernels->build(all), Failure);
  kernels->reserve(columns, 100, allocate);
  kernels->build(all);
  Memory out(MemoryKind::cuda, std::uint64_t{99} * (2 * columns - 1));
  Joined joined{.words = out.words(), .capacity = 99};
  EXPECT_THROW(kernels->probe(all, joined), Failure);
}

}  // namespace
}  // namespace ucxbench::merge
