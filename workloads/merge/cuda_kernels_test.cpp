// The kernels of a GPU against those of the CPU, on a real GPU or on the emulated driver.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "workloads/common/cuda_test.hpp"
#include "workloads/merge/kernels.hpp"

namespace ucxbench::merge {
namespace {

constexpr std::uint32_t columns = 3;

constexpr std::uint64_t untouched = 0x0123456789abcdef;

/// Words in memory of one kind, with one behind the last that nobody may write.
class Memory {
 public:
  Memory(MemoryKind kind, std::uint64_t words)
      : count_(words), buffer_(kind, (words + 1) * sizeof(std::uint64_t)) {
    copy_bytes(kind, this->words() + words, &untouched, sizeof untouched);
  }

  std::uint64_t* words() { return reinterpret_cast<std::uint64_t*>(buffer_.data()); }
  std::vector<std::uint64_t> read() {
    std::vector<std::uint64_t> copy(count_ + 1);
    copy_bytes(buffer_.kind(), copy.data(), buffer_.data(), copy.size() * sizeof(std::uint64_t));
    EXPECT_EQ(copy.back(), untouched);
    copy.pop_back();
    return copy;
  }

 private:
  std::uint64_t count_;
  Buffer buffer_;
};

/// Everything that one kind of kernels makes of two tables of a size, in an order of its own.
struct Made {
  std::vector<std::uint64_t> generated, counts, scattered;
  std::uint64_t key_sum = 0, misplaced_rows = 0;
  Checksum joined;
};

Made make(const std::unique_ptr<Kernels>& kernels, MemoryKind kind, std::uint64_t rows,
          const Spread& spread, double skew = 0) {
  const Generator generator({.rows_per_rank = rows, .frac_match = 0.5, .skew = skew});
  Made made;
  kernels->reserve(columns, rows, [&](std::size_t bytes) { return Buffer(kind, bytes); });
  std::array<std::optional<Memory>, 2> tables;
  for (const auto side : {Side::build, Side::probe}) {
    auto& table = tables[static_cast<std::size_t>(side)].emplace(kind, rows * columns);
    for (const auto first : {rows, std::uint64_t{0}}) {
      kernels->generate(generator, side, first, rows, columns, table.words());
      const auto words = table.read();
      made.generated.insert(made.generated.end(), words.begin(), words.end());
    }
  }
  const Rows table{tables[1]->words(), rows, rows};
  made.counts = kernels->count(table, spread);
  made.key_sum = kernels->key_sum(table);
  made.misplaced_rows = kernels->misplaced_rows(table, spread, 0);

  const auto blocks = blocks_of(spread, made.counts);
  Memory partitioned(kind, room_of(blocks) * columns);
  std::vector<std::uint64_t> strides;
  for (const auto& block : blocks) strides.push_back(block.stride());
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
  Memory out(kind, rows * (2 * columns - 1));
  Joined joined{.words = out.words(), .capacity = rows};
  kernels->build(segments(*tables[0]));
  const auto probed = segments(*tables[1]);
  kernels->probe(std::span(probed).first(1), joined);
  kernels->probe(std::span(probed).subspan(1), joined);
  made.joined = kernels->checksum(joined, columns, 77);
  out.read();
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
        const auto stride = column * blocks[bucket / spread.parts].stride();
        words.push_back(made.scattered[starts[bucket] + stride + row]);
      }
    }
    std::sort(rows.begin() + static_cast<std::ptrdiff_t>(first), rows.end());
  }
  return rows;
}

/// `cuda`: the GPU's kernels.
void expect_the_same(const std::unique_ptr<Kernels>& cuda, std::uint64_t rows,
                     const Spread& spread) {
  SCOPED_TRACE(testing::Message() << rows << " rows, " << spread.buckets() << " buckets");
  const auto here = make(make_cpu_kernels([] {}), MemoryKind::host, rows, spread);
  const auto there = make(cuda, MemoryKind::cuda, rows, spread);
  EXPECT_EQ(here.generated, there.generated);
  EXPECT_EQ(here.counts, there.counts);
  EXPECT_EQ(sorted_rows(here, spread), sorted_rows(there, spread));
  EXPECT_EQ(here.key_sum, there.key_sum);
  EXPECT_EQ(here.misplaced_rows, there.misplaced_rows);
  EXPECT_EQ(here.joined, there.joined);
  EXPECT_EQ(there.joined.rows, rows / 2);
}

class CudaKernels : public OnGpu {
 protected:
  CudaKernels() : OnGpu(why_no_cuda_kernels()) {}
};

TEST_F(CudaKernels, LeaveOutWhatDoesNotFit) {
  const auto kernels = make_cuda_kernels([] {});
  Memory table(MemoryKind::cuda, std::uint64_t{100} * columns);
  const Generator generator({.rows_per_rank = 100, .frac_match = 1});
  kernels->generate(generator, Side::build, 0, 100, columns, table.words());
  const std::vector<Rows> all = {{table.words(), 100, 100}};
  const auto allocate = [](std::size_t bytes) { return Buffer(MemoryKind::cuda, bytes); };
  kernels->reserve(columns, 99, allocate);
  kernels->build(all);
  Memory out(MemoryKind::cuda, std::uint64_t{99} * (2 * columns - 1));
  Joined joined{.words = out.words(), .capacity = 99};
  kernels->probe(all, joined);
  EXPECT_EQ(joined.rows, 0U);
  kernels->reserve(columns, 100, allocate);
  kernels->build(all);
  kernels->probe(all, joined);
  EXPECT_EQ(joined.rows, 0U);
  out.read();
}

TEST_F(CudaKernels, TakeSkewedKeysFromTheHost) {
  const auto here = make(make_cpu_kernels([] {}), MemoryKind::host, 10'000, {}, 1.1);
  const auto there = make(make_cuda_kernels([] {}), MemoryKind::cuda, 10'000, {}, 1.1);
  EXPECT_EQ(here.generated, there.generated);
  EXPECT_EQ(here.joined, there.joined);
}

TEST_F(CudaKernels, GoRoundAgain) {
  expect_the_same(make_cuda_kernels([] {}, 2), 10'000, Spread{3, 2, 5});
}

TEST_F(CudaKernels, DoWhatTheCpuDoes) {
  const auto cuda = make_cuda_kernels([] {});
  const std::uint64_t many_tiles = is_emulated() ? 12'301 : 100'003;
  // Around the sizes of a warp, a block and a tile, and with all 256 buckets.
  for (const auto rows : std::vector<std::uint64_t>{1, 31, 257, 4095, 4096, 4097, many_tiles}) {
    for (const Spread spread : {Spread{1, 1, 1}, Spread{3, 2, 5}, Spread{4, 4, 16}}) {
      expect_the_same(cuda, rows, spread);
    }
  }
}

}  // namespace
}  // namespace ucxbench::merge
