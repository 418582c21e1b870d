#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <vector>

#include "workloads/common/injected.hpp"
#include "workloads/halo/kernels.hpp"

namespace ucxbench::halo {
namespace {

std::vector<double> waves_of_square_domain(std::uint64_t edge) {
  std::vector<double> table(Waves::count(edge));
  for (std::uint64_t i = 0; i < edge; ++i) {
    const auto angle = 2 * std::numbers::pi * static_cast<double>(i) / static_cast<double>(edge);
    table[i] = table[2 * edge + i] = std::cos(angle);
    table[edge + i] = table[3 * edge + i] = std::sin(angle);
  }
  return table;
}

/// A domain that is one tile: each of its edges goes to the side opposite.
class OneTile : public testing::TestWithParam<std::uint64_t> {
 protected:
  std::uint64_t edge() const { return GetParam(); }

  void wrap(std::vector<double>& u) {
    const auto n = static_cast<std::int64_t>(edge());
    for (std::int64_t i = 0; i < n; ++i) {
      u[tile_.at(-1, i)] = u[tile_.at(n - 1, i)];
      u[tile_.at(n, i)] = u[tile_.at(0, i)];
    }
    std::vector<double> west(edge());
    std::vector<double> east(edge());
    kernels_->pack(tile_, u.data(), west.data(), east.data());
    kernels_->unpack(tile_, east.data(), west.data(), u.data());
  }
  std::uint64_t wrong(const std::vector<double>& u, int steps) {
    return kernels_->wrong(tile_, u.data(),
                           {.waves = waves_,
                            .amplitude = std::pow(decay(edge(), edge()), steps),
                            .tolerance = tolerance(static_cast<std::uint64_t>(steps))});
  }
  std::vector<double> started() {
    std::vector<double> u(tile_.elements());
    kernels_->start(tile_, waves_, u.data());
    return u;
  }

  Tile tile_{GetParam()};
  std::vector<double> table_ = waves_of_square_domain(GetParam());
  Waves waves_ = Waves::in(table_.data(), GetParam());
  std::unique_ptr<Kernels> kernels_ = make_cpu_kernels([] {});
};

TEST_P(OneTile, FollowsTheClosedForm) {
  auto u = started();
  std::vector<double> v(u.size(), no_number);
  for (int step = 0; step < 20; ++step) {
    EXPECT_EQ(wrong(u, step), 0U) << step;
    wrap(u);
    kernels_->step(tile_, u.data(), v.data(), Part::inside);
    kernels_->step(tile_, u.data(), v.data(), Part::edges);
    std::swap(u, v);
  }
}

TEST_P(OneTile, IsTheSameInPartsAndAtOnce) {
  auto u = started();
  wrap(u);
  std::vector<double> parts(u.size(), -1);
  std::vector<double> whole(u.size(), -1);
  kernels_->step(tile_, u.data(), parts.data(), Part::inside);
  kernels_->step(tile_, u.data(), parts.data(), Part::edges);
  kernels_->step(tile_, u.data(), whole.data(), Part::all);
  EXPECT_EQ(parts, whole);
}

TEST_P(OneTile, KnowsNothingOfItsNeighboursAtFirst) {
  auto u = started();
  std::vector<double> v(u.size(), 0);
  kernels_->step(tile_, u.data(), v.data(), Part::all);
  const auto inside = edge() > 2 ? (edge() - 2) * (edge() - 2) : 0;
  EXPECT_EQ(wrong(v, 1), edge() * edge() - inside);
}

TEST_P(OneTile, SeesOneWrongElement) {
  auto u = started();
  corrupt(MemoryKind::host, u.data() + tile_.at(0, static_cast<std::int64_t>(edge()) - 1));
  EXPECT_EQ(wrong(u, 0), 1U);
}

// But of an element alone, which stays as it is.
TEST_P(OneTile, SeesAStepTooMany) { EXPECT_EQ(wrong(started(), 1) > 0, edge() > 1); }

INSTANTIATE_TEST_SUITE_P(Edges, OneTile, testing::Values(1, 2, 3, 4, 7, 64));

TEST(Decay, IsOneOfAnElementAlone) { EXPECT_DOUBLE_EQ(decay(1, 1), 1); }

}  // namespace
}  // namespace ucxbench::halo
