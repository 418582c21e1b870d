#include <gtest/gtest.h>

#include "harness/analysis/rules/run_for_test.hpp"

namespace ucxbench {
namespace {

struct Side {
  double GBps;
  const char* carrier;
  const char* target_progress;
};

Result put_and_get_of(const Side& put, const Side& get, const std::string& memory = "host") {
  auto result = made_run();
  for (const auto& [api, side] : {std::pair{"put", put}, std::pair{"get", get}}) {
    auto of = made_case(1 << 20, {"shm"}, memory);
    of.parameters["api"] = api;
    of.shows = shows_of_older(of);
    of.metrics["bandwidth_GBps"].quantiles.p50 = side.GBps;
    of.path = {{"carried_by", {{side.carrier, 1.0}}}, {"target_progress", side.target_progress}};
    result.cases.push_back(of);
  }
  return result;
}

TEST(PutAndGet, DifferByMoreThanTwiceInRate) {
  const auto result = put_and_get_of({1.5, "shm", "needed"}, {3.2, "shm", "needed"});
  EXPECT_EQ(said(put_and_get, result),
            Said{"pingpong put and get, host to host, over shm: 1 MiB: put 1.50 GB/s, get 3.20"});
  EXPECT_EQ(put_and_get(Judged(result))[0].next, "use get, posted by the receiver");
  EXPECT_EQ(said(put_and_get, put_and_get_of({1.5, "shm", "needed"}, {2.9, "shm", "needed"})),
            Said());
}

TEST(PutAndGet, HaveIntervalsAndDoNotDifferWithinThem) {
  auto result = put_and_get_of({1.5, "shm", "needed"}, {3.2, "shm", "needed"});
  auto& put = result.cases[0].metrics["bandwidth_GBps"];
  result.cases[1].metrics["bandwidth_GBps"].ci95 = {3.0, 3.3};
  put.ci95 = {1.4, 1.6};
  EXPECT_EQ(said(put_and_get, result),
            Said{"pingpong put and get, host to host, over shm: 1 MiB: put 1.50 (1.40..1.60) GB/s, "
                 "get 3.20 (3.00..3.30)"});
  put.ci95 = {1.4, 3.1};
  EXPECT_EQ(said(put_and_get, result), Said());
}

TEST(PutAndGet, DifferInTheTargetsHelp) {
  const auto result = put_and_get_of({3, "shm", "not needed"}, {3, "shm", "needed"});
  EXPECT_EQ(
      said(put_and_get, result),
      Said{"pingpong put and get, host to host, over shm: 1 MiB: put 3.00 GB/s, get 3.00; get "
           "alone needs the target's CPU"});
  EXPECT_EQ(put_and_get(Judged(result))[0].next, "use put, posted by the sender");
}

TEST(PutAndGet, DifferInWhatCarriesThem) {
  const auto result = put_and_get_of({49, "nvlink", "not needed"}, {0.5, "shm", "needed"}, "cuda");
  EXPECT_EQ(put_and_get(Judged(result))[0].next, "set --ucx UCX_CUDA_IPC_ENABLE_GET_ZCOPY=on");
  EXPECT_EQ(said(put_and_get, result).size(), 1U);
}

// The faster one is the better one, whoever needs help.
TEST(PutAndGet, AdviseWhatIsMuchFaster) {
  const auto next = [](double put, double get) {
    const auto run = put_and_get_of({put, "shm", "needed"}, {get, "shm", "not needed"});
    return put_and_get(Judged(run)).at(0).next;
  };
  EXPECT_EQ(next(30, 3), "use put, posted by the sender");
  EXPECT_EQ(next(5, 3), "use get, posted by the receiver");
}

TEST(PutAndGet, SayNothingByFiguresThatDoNotCount) {
  auto run = put_and_get_of({1, "shm", "needed"}, {9, "shm", "needed"});
  ASSERT_EQ(said(put_and_get, run).size(), 1U);
  for (const auto& [name, samples] : {std::pair{"latency_us", -1.0}, {"bandwidth_GBps", 0.0}}) {
    auto other = run;
    auto& record = other.cases[1].launches.emplace_back(made_record(0, 1, "shm", {}));
    record.samples[name].quantiles = {.min = samples, .p50 = samples};
    EXPECT_EQ(said(put_and_get, other), Said()) << name;
  }
  run.cases[1].path["carried_by"] = {{"tcp", 1.0}};
  for (auto& of : run.cases) of.labels = {"time-sliced"};
  EXPECT_EQ(put_and_get(Judged(run)).at(0).next, "measure both again, and compare them");
}

TEST(PutAndGet, AreOfOneSetAndBothMeasured) {
  auto result = put_and_get_of({1, "shm", "needed"}, {9, "shm", "needed"});
  result.cases[1].parameters["transports"] = {"tcp"};
  result.cases[1].shows = shows_of_older(result.cases[1]);
  EXPECT_EQ(said(put_and_get, result), Said());
  result.cases.pop_back();
  EXPECT_EQ(said(put_and_get, result), Said());
}

}  // namespace
}  // namespace ucxbench
