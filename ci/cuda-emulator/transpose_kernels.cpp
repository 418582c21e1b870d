// What the kernels of workloads/transpose/cuda_kernels.cu do, element by element.

#include "ci/cuda-emulator/kernels.hpp"
#include "workloads/transpose/cuda_arguments.hpp"
#include "workloads/transpose/formula.hpp"

namespace emulator {
namespace {

using namespace ucxbench::transpose;  // NOLINT: all of it is the kernels' own

using Elements = DeviceWords<double>;
using Input = DeviceWords<const double>;
using Words = DeviceWords<std::uint64_t>;

void generate(const GenerateArguments& a) {
  const Elements x(a.x);
  for (std::uint64_t i = 0; i < a.tile.rows; ++i) {
    for (std::uint64_t j = 0; j < a.tile.columns; ++j) {
      x[i * a.tile.columns + j] =
          static_cast<double>(element_at(a.size, a.tile.first_row + i, a.tile.first_column + j));
    }
  }
}

void add_one(const Tile& tile, const double* one, const double* other, double* sum) {
  const Input x(one);
  const Input t(other);
  const Elements y(sum);
  for (std::uint64_t i = 0; i < tile.rows; ++i) {
    for (std::uint64_t j = 0; j < tile.columns; ++j) {
      y[i * row_stride(tile.columns) + j] = x[i * tile.columns + j] + t[j * tile.rows + i];
    }
  }
}

void add(const AddArguments& a) { add_one(a.tile, a.x, a.t, a.y); }

void add_both(const AddBothArguments& a) {
  add_one(a.tile, a.x, a.t, a.y);
  add_one(a.tile.transposed(), a.t, a.x, a.u);
}

/// Adds what the elements y(i, j) of a tile add up to.
template <typename Element>
void add_up(const Tile& tile, std::uint64_t* total, Element y) {
  Checksum all;
  for (std::uint64_t i = 0; i < tile.rows; ++i) {
    std::uint64_t sum = 0;
    std::uint64_t weighted = 0;
    for (std::uint64_t j = 0; j < tile.columns; ++j) {
      const auto word = word_of(y(i, j));
      sum += word;
      weighted += column_weight(tile.first_column + j) * word;
    }
    all.add_row(tile.first_row + i, sum, weighted);
  }
  const Words words(total);
  words[0] += all.sum;
  words[1] += all.weighted;
}

void add_to_sum(const AddToSumArguments& a) {
  const Input x(a.x);
  const Input t(a.t);
  add_up(a.tile, a.sum, [&](std::uint64_t i, std::uint64_t j) {
    return x[i * a.tile.columns + j] + t[j * a.tile.rows + i];
  });
}

void checksum(const ChecksumArguments& a) {
  const Input y(a.y);
  add_up(a.tile, a.sum,
         [&](std::uint64_t i, std::uint64_t j) { return y[i * row_stride(a.tile.columns) + j]; });
}

constexpr Known ALL[] = {
    known<GenerateArguments, generate>(), known<AddArguments, add>(),
    known<AddBothArguments, add_both>(),  known<AddToSumArguments, add_to_sum>(),
    known<ChecksumArguments, checksum>(),
};

}  // namespace

std::span<const Known> transpose_kernels() { return ALL; }

}  // namespace emulator
