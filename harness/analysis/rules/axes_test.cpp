#include <gtest/gtest.h>

#include "harness/analysis/rules/run_for_test.hpp"

namespace ucxbench {
namespace {

struct Made {
  Json value;
  double us;
  std::uint64_t bytes = 8;
  double noise = 0.01;
  std::string transports = "shm";
};

const Usage error_mode = {"error_mode", "none", "ask for peer only where peers may be lost"};
const Usage buffer = {"buffer", "contiguous", "send one contiguous buffer"};
const Usage receives = {"receives", "expected", "post receives before messages come"};
const Usage header = {"header_bytes", nullptr, "put what is long into the payload"};
const Usage threads = {"threads", 1, "use fewer threads, or --workers own", true};

Case made(const Usage& use, const Made& of) {
  auto benchmark_case = made_case(of.bytes, {of.transports});
  benchmark_case.parameters[use.parameter] = of.value;
  if (of.value != use.usual) benchmark_case.shows.unusual = {use};
  auto& metric = benchmark_case.metrics["latency_us"];
  metric.quantiles.p50 = of.us;
  metric.ci95 = {{of.us * (1 - of.noise), of.us * (1 + of.noise)}};
  return benchmark_case;
}

Result run_of(const Usage& use, const std::vector<Made>& all) {
  auto result = made_run();
  for (const auto& of : all) result.cases.push_back(made(use, of));
  return result;
}

TEST(AxisCost, IsNamedWithTheWorstCase) {
  const auto result = run_of(buffer, {{"contiguous", 1.0, 8},
                                      {"iov:4", 1.2, 8},
                                      {"contiguous", 2.0, 64},
                                      {"iov:4", 3.0, 64},
                                      {"iov:9", 2.5, 64}});
  EXPECT_EQ(said(axis_cost, result),
            Said{"pingpong tag, host to host, over shm: buffer iov:4, 64 B: latency 3.00 us, 1.50 "
                 "times as slow as contiguous (2.00 us)"});
}

TEST(AxisCost, SpeaksOncePerSetAndAxis) {
  auto result = run_of(error_mode, {{"none", 1.0, 8},
                                    {"peer", 2.0, 8},
                                    {"none", 1.0, 8, 0.01, "tcp"},
                                    {"peer", 3.0, 8, 0.01, "tcp"}});
  EXPECT_EQ(said(axis_cost, result).size(), 2U);
}

TEST(AxisCost, OfAHeaderIsAgainstNone) {
  const auto result = run_of(header, {{nullptr, 1.0}, {64, 1.3}});
  EXPECT_EQ(said(axis_cost, result),
            Said{"pingpong tag, host to host, over shm: header bytes 64, 8 B: latency 1.30 us, "
                 "1.30 times as slow as none (1.00 us)"});
}

TEST(AxisCost, NeedsIntervalsThatAreApartAndATenth) {
  EXPECT_EQ(said(axis_cost, run_of(receives, {{"expected", 1.0}, {"unexpected", 1.09}})), Said());
  EXPECT_EQ(
      said(axis_cost, run_of(receives, {{"expected", 1.0, 8, 0.2}, {"unexpected", 1.3, 8, 0.2}})),
      Said());
  EXPECT_EQ(said(axis_cost, run_of(receives, {{"expected", 1.3}, {"unexpected", 1.0}})), Said());
  auto few = run_of(receives, {{"expected", 1.0}, {"unexpected", 1.5}});
  EXPECT_EQ(said(axis_cost, few).size(), 1U);
  few.cases[1].metrics["latency_us"].ci95.reset();  // fewer than 6 launches
  EXPECT_EQ(said(axis_cost, few), Said());
}

TEST(AxisCost, IsOfCasesThatDifferInNothingElse) {
  auto result = run_of(receives, {{"expected", 1.0}, {"unexpected", 1.5}});
  EXPECT_EQ(said(axis_cost, result).size(), 1U);
  result.cases[1].parameters["window"] = 8;
  EXPECT_EQ(said(axis_cost, result), Said());
}

// The order in which a run has them says nothing.
TEST(AxisCost, IsOfOneParameterAtATime) {
  auto result = run_of(buffer, {{"iov:4", 1.5}, {"iov:4", 2.0}, {"contiguous", 1.0}});
  for (auto& of : result.cases) of.parameters["receives"] = "expected";
  result.cases[1].parameters["receives"] = "unexpected";
  result.cases[1].shows.unusual.push_back(receives);
  EXPECT_EQ(said(axis_cost, result),
            (Said{"pingpong tag, host to host, over shm: buffer iov:4, 8 B: latency 1.50 us, 1.50 "
                  "times as slow as contiguous (1.00 us)",
                  "pingpong tag, host to host, over shm: receives unexpected, 8 B: latency 2.00 "
                  "us, 1.33 times as slow as expected (1.50 us)"}));
}

// As of a run from before cases said what is unusual.
TEST(AxisCost, IsOfWhatCasesCallUnusualAlone) {
  auto result = run_of(buffer, {{"contiguous", 1.0}, {"iov:4", 1.5}});
  result.cases[1].shows.unusual.clear();
  EXPECT_EQ(said(axis_cost, result), Said());
}

// More threads wait for each other; that is a cost only where they do less in all.
TEST(AxisCost, OfThreadsIsARate) {
  auto result = run_of(threads, {{1, 1.0}, {2, 1.9}});
  EXPECT_EQ(said(axis_cost, result), Said());
  for (auto& of : result.cases) {
    const double rate = of.parameters["threads"] == 1 ? 2e6 : 1e6;
    of.shows.metrics.push_back(metric_named("message_rate_per_s", {.judged = false}));
    of.metrics["message_rate_per_s"] = {.quantiles = {.p50 = rate},
                                        .ci95 = {{rate * 0.9, rate * 1.1}}};
  }
  EXPECT_EQ(said(axis_cost, result),
            Said{"pingpong tag, host to host, over shm: threads 2, 8 B: message rate 1.00 M/s, "
                 "2.00 times as slow as 1 (2.00 M/s)"});
}

}  // namespace
}  // namespace ucxbench
