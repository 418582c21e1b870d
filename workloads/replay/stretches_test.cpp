#include "workloads/replay/stretches.hpp"

#include <gtest/gtest.h>

#include <array>
#include <tuple>

namespace ucxbench::replay {
namespace {

using Seen = std::vector<std::tuple<Doing, std::uint64_t, std::uint64_t>>;

Seen seen(Stretch run, const std::vector<Stretch>& gaps, const std::vector<Stretch>& transfers) {
  Seen all;
  for (const auto& [doing, when] : parts_of(run, gaps, transfers)) {
    all.emplace_back(doing, when.begin_ns, when.end_ns);
  }
  return all;
}

TEST(Parts, AreOfTheWholeRun) {
  EXPECT_EQ(seen({10, 50}, {}, {}), (Seen{{Doing::waiting, 10, 50}}));
  EXPECT_EQ(seen({10, 50}, {{10, 20}}, {{30, 45}}), (Seen{{Doing::gaps, 10, 20},
                                                          {Doing::waiting, 20, 30},
                                                          {Doing::transferring, 30, 45},
                                                          {Doing::waiting, 45, 50}}));
}

TEST(Parts, AreGapsWhateverIsOnItsWay) {
  EXPECT_EQ(seen({0, 40}, {{10, 20}}, {{5, 30}}), (Seen{{Doing::waiting, 0, 5},
                                                        {Doing::transferring, 5, 10},
                                                        {Doing::gaps, 10, 20},
                                                        {Doing::transferring, 20, 30},
                                                        {Doing::waiting, 30, 40}}));
}

TEST(Parts, OfTransfersThatOverlapAreOne) {
  EXPECT_EQ(seen({0, 40}, {}, {{0, 20}, {10, 30}, {30, 40}}), (Seen{{Doing::transferring, 0, 40}}));
}

TEST(Parts, EndWithTheRun) {
  EXPECT_EQ(seen({10, 20}, {{0, 12}}, {{15, 90}}),
            (Seen{{Doing::gaps, 10, 12}, {Doing::waiting, 12, 15}, {Doing::transferring, 15, 20}}));
}

}  // namespace
}  // namespace ucxbench::replay
