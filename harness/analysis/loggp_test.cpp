#include "harness/analysis/loggp.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <utility>

namespace ucxbench {
namespace {

// Powers of two from 2^first to 2^last, as a model says, off by up to so much of each time.
std::vector<LogGPPoint> loggp_points_of(const LogGP& model, int first, int last, double off = 0) {
  std::vector<LogGPPoint> points;
  for (int exponent = first; exponent <= last; ++exponent) {
    const auto bytes = std::ldexp(1, exponent);
    const auto error = 1 + (exponent % 2 == 0 ? off : -off);
    points.push_back({.bytes = bytes,
                      .latency_us = model.latency_us(bytes) * error,
                      .message_us = model.message_us(bytes) * error,
                      .send_us = model.o_s_us,
                      .receive_us = model.o_r_us});
  }
  return points;
}

constexpr LogGP loggp_of_short{.L_us = 1, .o_s_us = 0.2, .o_r_us = 0.3, .g_us = 0.5, .G_us = 0.002};
constexpr LogGP loggp_of_long{.L_us = 9, .o_s_us = 2, .o_r_us = 3, .g_us = 5, .G_us = 0.0001};

TEST(LogGP, IsFittedAsItWasMade) {
  const auto model = fitted(loggp_points_of(loggp_of_short, 0, 12));
  EXPECT_NEAR(model.L_us, loggp_of_short.L_us, 1e-9);
  EXPECT_NEAR(model.o_s_us, loggp_of_short.o_s_us, 1e-9);
  EXPECT_NEAR(model.o_r_us, loggp_of_short.o_r_us, 1e-9);
  EXPECT_NEAR(model.g_us, loggp_of_short.g_us, 1e-9);
  EXPECT_NEAR(model.G_us, loggp_of_short.G_us, 1e-12);
}

TEST(LogGP, HasNoGapBelowZero) {
  auto points = loggp_points_of(loggp_of_short, 2, 6);
  for (std::size_t at = 0; at < points.size(); ++at) points[at].message_us = 5.0 - double(at);
  EXPECT_EQ(fitted(points).G_us, 0);
  for (auto& point : points) point.message_us = point.bytes * point.bytes;
  EXPECT_EQ(fitted(points).g_us, 0);
}

TEST(LogGP, HasARangeForEachProtocol) {
  auto points = loggp_points_of(loggp_of_short, 0, 12, 0.02);
  EXPECT_EQ(ranges_of(points), std::vector<std::size_t>{0});
  for (const auto& point : loggp_points_of(loggp_of_long, 13, 20, 0.02)) points.push_back(point);
  EXPECT_EQ(ranges_of(points), (std::vector<std::size_t>{0, 13}));
}

TEST(LogGP, OfFewPointsIsOneRange) {
  EXPECT_EQ(ranges_of(loggp_points_of(loggp_of_short, 0, 2)), std::vector<std::size_t>{0});
}

TEST(LogGP, WhatTheSizesDoNotShowIsNotGiven) {
  Result result;
  for (auto point : loggp_points_of(loggp_of_short, 0, 12)) {
    point.message_us = 6 - 1e-4 * point.bytes;
    Case of;
    of.shows.axes.push_back({.name = "bytes",
                             .label = "size",
                             .value = static_cast<std::uint64_t>(point.bytes),
                             .text = "",
                             .unit = "B"});
    of.metrics["latency_us"].quantiles.p50 = point.latency_us;
    of.metrics["message_us"].quantiles.p50 = point.message_us;
    of.metrics["send_overhead_us"].quantiles.p50 = point.send_us;
    of.metrics["receive_overhead_us"].quantiles.p50 = point.receive_us;
    result.cases.push_back(std::move(of));
  }
  const auto range = loggp_of(result).at(0).at("ranges").at(0);
  EXPECT_TRUE(range.at("G_ns_per_byte").is_null());
  EXPECT_GT(range.at("g_ns"), 5e3);
}

TEST(LogGP, SaysNothingOfOtherRuns) { EXPECT_TRUE(loggp_of(Result{}).empty()); }

}  // namespace
}  // namespace ucxbench
