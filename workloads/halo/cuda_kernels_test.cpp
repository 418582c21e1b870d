// The kernels of a GPU against those of the CPU, on a real GPU or on the emulated driver.

#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <vector>

#include "workloads/common/cuda_test.hpp"
#include "workloads/common/injected.hpp"
#include "workloads/halo/kernels.hpp"

namespace ucxbench::halo {
namespace {

/// Everything that one kind of kernels makes of a tile.
struct Made {
  std::vector<double> started, west, east, unpacked, inside, edges, all;
  std::uint64_t right = 0, wrong = 0, wrong_at_another_amplitude = 0;
  double corrupted = 0;
};

// What is no number is shown as something that can be compared.
std::vector<double> comparable(std::vector<double> values) {
  for (auto& value : values) value = std::isnan(value) ? -7 : value;
  return values;
}

Made made_by(Kernels& kernels, MemoryKind kind, std::uint64_t edge) {
  const Tile tile{edge};
  Elements table(kind, Waves::count(edge));
  std::vector<double> numbers(Waves::count(edge));
  for (std::uint64_t i = 0; i < numbers.size(); ++i) numbers[i] = 1 / (3 + double(i));
  table.write(0, numbers);
  const auto waves = Waves::in(table.data(), edge);
  Made made;
  Elements u(kind, tile.elements());
  kernels.start(tile, waves, u.data());
  made.started = comparable(u.read());
  Elements west(kind, edge);
  Elements east(kind, edge);
  kernels.pack(tile, u.data(), west.data(), east.data());
  made.west = west.read();
  made.east = east.read();
  kernels.unpack(tile, east.data(), west.data(), u.data());
  made.unpacked = comparable(u.read());
  for (const auto& [part, result] : {std::pair{Part::inside, &made.inside},
                                     {Part::edges, &made.edges},
                                     {Part::all, &made.all}}) {
    Elements v(kind, tile.elements());
    kernels.step(tile, u.data(), v.data(), part);
    *result = comparable(v.read());
  }
  const Expected expected{.waves = waves, .amplitude = 1, .tolerance = 1e-14};
  made.right = kernels.wrong(tile, u.data(), expected);
  auto other = expected;
  other.amplitude = 2;
  made.wrong_at_another_amplitude = kernels.wrong(tile, u.data(), other);
  corrupt(kind, u.data() + tile.at(0, 0));
  made.corrupted = u.read()[tile.at(0, 0)];
  made.wrong = kernels.wrong(tile, u.data(), expected);
  return made;
}

class CudaHalo : public OnGpu {
 protected:
  CudaHalo() : OnGpu(why_no_cuda_kernels()) {}
};

void expect_near(const std::vector<double>& there, const std::vector<double>& here) {
  ASSERT_EQ(there.size(), here.size());
  for (std::size_t at = 0; at < here.size(); ++at) {
    // A GPU may fuse a multiplication with an addition.
    ASSERT_NEAR(there[at], here[at], 1e-14) << at;
  }
}

TEST_F(CudaHalo, DoesWhatTheCpuDoes) {
  auto sizes = std::vector<std::uint64_t>{1, 2, 3, 33, 300};
  if (!is_emulated()) sizes.push_back(5000);
  for (const auto edge : sizes) {
    SCOPED_TRACE(edge);
    const auto here = made_by(*make_cpu_kernels([] {}), MemoryKind::host, edge);
    // So few blocks that each goes on to other rows.
    for (const auto most_blocks : {std::uint64_t{2}, std::uint64_t{4096}}) {
      const auto there = made_by(*make_cuda_kernels([] {}, most_blocks), MemoryKind::cuda, edge);
      expect_near(there.started, here.started);
      expect_near(there.west, here.west);
      expect_near(there.east, here.east);
      expect_near(there.unpacked, here.unpacked);
      expect_near(there.inside, here.inside);
      expect_near(there.edges, here.edges);
      expect_near(there.all, here.all);
      EXPECT_EQ(there.right, 0U);
      EXPECT_EQ(here.right, 0U);
      EXPECT_EQ(there.wrong, 1U);
      EXPECT_EQ(here.wrong, 1U);
      EXPECT_EQ(there.wrong_at_another_amplitude, edge * edge);
      EXPECT_EQ(there.corrupted, here.corrupted);
    }
  }
}

}  // namespace
}  // namespace ucxbench::halo
