#include "harness/analysis/history/change_points.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "harness/analysis/fixtures.hpp"
#include "harness/core/read_json.hpp"

namespace ucxbench {
namespace {

/// What Apache Otava finds (scripts/tests/otava_reference.py).
const Json& reference() {
  static const auto json = read_json(
      read_given(fixture("../history/otava_reference.json"), 1U << 20U, "give the fixture"));
  return json;
}

std::vector<double> series(const char* name) {
  return reference().at("series").at(name).at("values").get<std::vector<double>>();
}

std::vector<std::size_t> found_by_otava(const char* name) {
  return reference().at("series").at(name).at("changes").get<std::vector<std::size_t>>();
}

std::vector<std::size_t> places(const std::vector<double>& values) {
  std::vector<std::size_t> places;
  for (const auto& change : change_points(values)) places.push_back(change.index);
  return places;
}

struct Level {
  std::size_t count;
  double level;
};

std::vector<double> noisy(const std::vector<Level>& levels, double noise = 0.01,
                          unsigned seed = 1) {
  std::mt19937 random(seed);
  std::normal_distribution<double> spread(0, noise);
  std::vector<double> values;
  for (const auto& [count, level] : levels) {
    for (std::size_t i = 0; i < count; ++i) values.push_back(level * (1 + spread(random)));
  }
  return values;
}

TEST(ChangePoints, HaveTheStatisticOfOtava) {
  const auto& splits = reference().at("splits");
  auto window = series("slower");
  window.resize(splits.at("first").get<std::size_t>());
  const auto energies = split_energies(window);
  const auto expected = splits.at("energies").get<std::vector<double>>();
  ASSERT_EQ(energies.size(), expected.size() - 2);
  for (std::size_t i = 0; i < energies.size(); ++i) EXPECT_NEAR(energies[i], expected[i + 1], 1e-9);
}

TEST(ChangePoints, AreWhatOtavaFinds) {
  for (const char* name :
       {"steady", "slower", "much slower", "faster", "a staircase", "early", "late"}) {
    EXPECT_EQ(places(series(name)), found_by_otava(name)) << name;
  }
}

TEST(ChangePoints, LeaveOutWhatOtavaFindsByChance) {
  for (const auto& [name, chance] : {std::pair{"slower and back", 135U}, std::pair{"long", 322U}}) {
    auto expected = found_by_otava(name);
    ASSERT_EQ(std::erase(expected, chance), 1U) << name;
    EXPECT_EQ(places(series(name)), expected) << name;
  }
}

TEST(ChangePoints, SayTheLevelsAndHowSureTheyAre) {
  const auto found = change_points(noisy({{40, 100}, {20, 120}, {30, 100}}));
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].index, 40U);
  EXPECT_NEAR(found[0].before, 100, 1);
  EXPECT_NEAR(found[0].after, 120, 1.2);
  EXPECT_EQ(found[0].after, found[1].before);
  EXPECT_TRUE(found[0].p > 0 && found[0].p <= 0.0001);
}

TEST(ChangePoints, KeepTheirPlaceAsRunsAreAppended) {
  for (const char* name : {"faster", "slower and back", "a staircase"}) {
    const auto values = series(name);
    std::vector<std::pair<std::size_t, double>> kept;
    for (std::size_t count = 1; count <= std::min<std::size_t>(170, values.size()); ++count) {
      std::vector<std::pair<std::size_t, double>> confirmed;
      for (const auto& change : change_points(std::span(values).first(count))) {
        if (!change.provisional) confirmed.emplace_back(change.index, change.p);
      }
      ASSERT_GE(confirmed.size(), kept.size());
      for (std::size_t i = 0; i < kept.size(); ++i) ASSERT_EQ(confirmed[i], kept[i]) << name;
      kept = confirmed;
    }
    EXPECT_FALSE(kept.empty());
  }
}

TEST(ChangePoints, AreProvisionalUntilThreeRunsFollow) {
  const auto values = noisy({{40, 100}, {10, 120}});
  const auto at = [&](std::size_t count) { return change_points(std::span(values).first(count)); };
  EXPECT_TRUE(at(41).empty());  // one value at a new level is a spike
  ASSERT_EQ(at(43).size(), 1U);
  EXPECT_TRUE(at(43)[0].provisional);
  EXPECT_FALSE(at(44)[0].provisional);
}

TEST(ChangePoints, AreNoLoneSpikes) {
  for (const std::size_t place : {0, 3, 20, 56, 57, 58, 59}) {
    for (const double size : {0.1, 1.2, 10.0}) {
      auto values = noisy({{60, 100}});
      values[place] *= size;
      EXPECT_TRUE(places(values).empty()) << place << " " << size;
    }
  }
  auto values = noisy({{60, 100}, {20, 105}});
  values[20] *= 5;
  values[61] *= 5;
  EXPECT_EQ(places(values), std::vector<std::size_t>{60});
}

TEST(ChangePoints, HaveAFloor) {
  const std::vector<std::size_t> none, one = {40};
  EXPECT_EQ(places(noisy({{40, 100}, {40, 100.4}}, 0.00001)), none);
  EXPECT_EQ(places(noisy({{40, 100}, {40, 100.6}}, 0.00001)), one);
  EXPECT_EQ(places(noisy({{40, 100}, {40, 102}}, 0.02)), none);
  EXPECT_EQ(places(noisy({{40, 100}, {40, 108}}, 0.02)), one);
}

TEST(ChangePoints, SurviveOddSeries) {
  const std::vector<double> same(100, 1), none(100, 0);
  for (const auto& values : {same, none, {}, {1}, {1, 2, 1, 2, 1, 2}, {0, 0, 0, 0, 1, 1}}) {
    EXPECT_TRUE(places(values).size() < 2);
  }
  std::vector<double> step(20, 1);
  std::fill(step.begin() + 10, step.end(), 2);
  const auto found = change_points(step);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].index, 10U);
  EXPECT_EQ(found[0].p, 0);
}

TEST(ChangePoints, RaiseFewFalseAlarms) {
  std::mt19937 random(11);
  std::normal_distribution<double> normal;
  std::student_t_distribution<double> heavy(4);
  std::size_t alarms = 0;
  for (int number = 0; number < 60; ++number) {
    std::vector<double> values(500);
    for (auto& value : values) {
      const double noise = number % 3 == 0   ? normal(random)
                           : number % 3 == 1 ? 10 * std::expm1(0.1 * normal(random))
                                             : heavy(random);
      value = 100 + noise;
    }
    alarms += places(values).size();
  }
  EXPECT_LE(alarms, 3U);
}

TEST(ChangePoints, FindLosses) {
  int right = 0;
  for (unsigned seed = 0; seed < 40; ++seed) {
    const auto found = places(noisy({{60, 100}, {20, 105}}, 0.015, seed));
    right += found.size() == 1 && found[0] >= 57 && found[0] <= 63;
  }
  EXPECT_GE(right, 38);
}

}  // namespace
}  // namespace ucxbench
