#include "harness/analysis/limits/host_limits.hpp"

#include <gtest/gtest.h>

#include <cstdint>

#include "harness/analysis/limits/run_limits.hpp"
#include "harness/result/older_runs.hpp"

namespace ucxbench {
namespace {

/// Ranks of one host whose memory is copied with 10 GB/s by one core and 12 by two.
struct SharedMemoryRun {
  Result result;
  Case of;

  SharedMemoryRun() {
    const Json copies = {{"one_core", {{"cpus", {0}}, {"bytes", 1}, {"copy_GBps", 10}}},
                         {"all_cores", {{"cpus", {0, 1}}, {"bytes", 1}, {"copy_GBps", 12}}}};
    result.machine = {{"hosts", Json::array({{{"name", "here"}, {"memory_copy", copies}}})}};
    for (int rank = 0; rank < 3; ++rank) {
      result.ranks.push_back({{"rank", rank}, {"host", "here"}});
    }
    of.benchmark = "p2p";
    of.parameters = {{"memory", {"host", "host"}}, {"concurrent", "one"}};
    of.shows = shows_of_older(of);
  }

  void add(int src, int dst, const std::string& device, const std::string& words = "",
           const std::string& carrier = "shm") {
    of.pairs.push_back({{"src", src}, {"dst", dst}, {"p50_GBps", 5}});
    LaunchRecord record{.src = src, .dst = dst, .lanes = {"sysv/memory", "cma/memory"}};
    record.path = {{"carried_by", {{carrier, 1.0}}},
                   {"protocols", Json::array({{{"protocol", words}, {"device", device}}})}};
    of.launches.push_back(record);
  }

  const Json& only_row() {
    add_limits(of, result, Graph());
    EXPECT_EQ(of.limits.size(), 1U);
    return of.limits.at(0);
  }
};

TEST(HostLimits, OfSegmentsAreTwoCopies) {
  SharedMemoryRun run;
  run.add(0, 1, "sysv/memory");
  const auto row = run.only_row();
  EXPECT_EQ(row["GBps"], 6) << "24 GB/s of traffic, each byte twice read and twice written";
  EXPECT_EQ(row["class"], "memory");
  EXPECT_EQ(row["path"], "shm");
  EXPECT_EQ(row["resource"], "host memory");
  EXPECT_EQ(row["source"], "calibrated");
  EXPECT_EQ(row["detail"], "memcpy of 12.0 GB/s on CPUs 0, 1, copied twice");
  EXPECT_EQ(row["complete"], true);
  EXPECT_TRUE(row["expected_GBps"].is_null() && row["share_GBps"].is_null());
  EXPECT_EQ(row["p50_GBps"], 5);
  EXPECT_EQ(run.of.pairs[0]["calibrated_GBps"], 6);
  EXPECT_FALSE(run.of.pairs[0].contains("limit_GBps")) << "it is no law";
}

/// The same with smaller buffers: 80 GB/s by one core within 8 KiB, 40 within 512 KiB, 8 within
/// 8 MiB; by two 1.5 times as much.
struct RunOfSizes : SharedMemoryRun {
  explicit RunOfSizes(std::uint64_t bytes) {
    for (const auto* cores : {"one_core", "all_cores"}) {
      auto& copies = result.machine["hosts"][0]["memory_copy"][cores];
      copies["bytes"] = 64 << 20;
      const auto factor = copies["cpus"].size() == 1 ? 1.0 : 1.5;
      copies["by_size"] = Json::array({{{"bytes", 8 << 10}, {"copy_GBps", 80 * factor}},
                                       {{"bytes", 512 << 10}, {"copy_GBps", 40 * factor}},
                                       {{"bytes", 8 << 20}, {"copy_GBps", 8 * factor}}});
    }
    result.machine["hosts"][0]["memory_copy"]["between_cores"] =
        Json::array({{{"cpus", {0, 1}},
                      {"by_size", Json::array({{{"bytes", 8 << 10}, {"copy_GBps", 90}},
                                               {{"bytes", 512 << 10}, {"copy_GBps", 70}},
                                               {{"bytes", 8 << 20}, {"copy_GBps", 60}}})}}});
    for (int rank = 0; rank < 3; ++rank) {
      result.ranks[static_cast<std::size_t>(rank)]["cpus"] = std::to_string(rank);
    }
    of.parameters["bytes"] = bytes;
    of.shows = shows_of_older(of);
  }

  Json& between() { return result.machine["hosts"][0]["memory_copy"]["between_cores"][0]; }
};

// No core hands data over faster than another copies what it wrote.
TEST(HostLimits, OfMessagesInCachesAreOfCopiesBetweenTheTwoCores) {
  RunOfSizes run(1 << 20);
  run.between()["by_size"][1]["copy_GBps"] = 12;
  run.between()["by_size"][2]["copy_GBps"] = 11;
  run.add(0, 1, "cma/memory");
  const auto row = run.only_row();
  EXPECT_EQ(row["GBps"], 12);
  EXPECT_EQ(row["resource"], "cores of ranks 0 and 1");
  EXPECT_EQ(row["detail"], "memcpy of 12.0 GB/s between CPUs 0 and 1, 512 KiB");
}

TEST(HostLimits, OfMessagesInCachesAreUnknownWithoutACopyBetweenTheTwoCores) {
  const auto silent = [](RunOfSizes& run) {
    run.add(0, 1, "cma/memory");
    add_limits(run.of, run.result, Graph());
    return run.of.limits.empty() && !run.of.pairs[0].contains("calibrated_GBps");
  };
  RunOfSizes of_others(1 << 20);
  of_others.between()["cpus"] = {0, 2};
  EXPECT_TRUE(silent(of_others));
  RunOfSizes of_one_core(1 << 20);
  of_one_core.result.ranks[1]["cpus"] = "0";
  EXPECT_TRUE(silent(of_one_core));
  RunOfSizes anywhere(1 << 20);
  anywhere.result.ranks[1]["cpus"] = "0-3";
  EXPECT_TRUE(silent(anywhere));
  RunOfSizes refused(1 << 20);
  for (auto& size : refused.between()["by_size"]) size["copy_GBps"] = nullptr;
  EXPECT_TRUE(silent(refused));
  RunOfSizes older(1 << 20);
  older.result.machine["hosts"][0]["memory_copy"].erase("between_cores");
  EXPECT_TRUE(silent(older));
  RunOfSizes large(64 << 20);
  large.result.machine["hosts"][0]["memory_copy"].erase("between_cores");
  EXPECT_FALSE(silent(large)) << "memory's copy says enough";
}

TEST(HostLimits, OfMessagesInCachesAreOfBuffersThatAreNoLarger) {
  const auto of_one_core = [](std::uint64_t bytes) {
    RunOfSizes run(bytes);
    run.add(0, 1, "cma/memory");
    return run.only_row();
  };
  EXPECT_EQ(of_one_core(8)["GBps"], 80) << "the smallest there is";
  EXPECT_EQ(of_one_core((1 << 20) - 1)["GBps"], 80) << "two of 512 KiB are more";
  const auto row = of_one_core(1 << 20);
  EXPECT_EQ(row["GBps"], 40);
  EXPECT_EQ(row["detail"], "memcpy of 40.0 GB/s on CPU 0, 512 KiB again and again");
  EXPECT_EQ(of_one_core(16 << 20)["GBps"], 10) << "memory's, which was faster than 8 MiB";
  EXPECT_EQ(of_one_core(16 << 20)["detail"], "memcpy of 10.0 GB/s on CPU 0");
  EXPECT_EQ(of_one_core(std::uint64_t{1} << 30U)["GBps"], 10);
}

TEST(HostLimits, OfMessagesInCachesAreOfAllCoresTogether) {
  RunOfSizes two(1 << 20);
  two.add(0, 1, "sysv/memory");
  EXPECT_EQ(two.only_row()["GBps"], 30) << "twice 60 of traffic, four times for each byte";
  EXPECT_EQ(two.of.limits[0]["detail"],
            "memcpy of 60.0 GB/s on CPUs 0, 1, 512 KiB again and again, copied twice");
  RunOfSizes three(1 << 20);
  three.result.machine["hosts"][0]["memory_copy"]["all_cores"]["cpus"] = {0, 1, 2};
  three.add(0, 1, "sysv/memory");
  EXPECT_EQ(three.only_row()["GBps"], 40) << "of three cores 512 KiB each are more than both sides";
}

TEST(HostLimits, OfColdBuffersAndExchangesAreOfMemory) {
  RunOfSizes cold(1 << 20);
  cold.of.parameters["buffers"] = "cold";
  cold.add(0, 1, "cma/memory");
  EXPECT_EQ(cold.only_row()["GBps"], 10);
  RunOfSizes warm(1 << 20);
  warm.of.parameters["buffers"] = "warm";
  warm.add(0, 1, "cma/memory");
  EXPECT_EQ(warm.only_row()["GBps"], 40);
  RunOfSizes exchange(1 << 20);
  exchange.of.exchange = {{"bytes", 2e9}};
  exchange.add(0, 1, "cma/memory");
  exchange.of.pairs[0]["bytes"] = 2e9;
  add_limits(exchange.of, exchange.result, Graph());
  EXPECT_EQ(exchange.of.exchange["calibrated_GBps"], 10);
}

TEST(HostLimits, OfSizesThatAreNoneAreLeftOut) {
  RunOfSizes run(1 << 20);
  for (const auto* cores : {"one_core", "all_cores"}) {
    auto& sizes = run.result.machine["hosts"][0]["memory_copy"][cores]["by_size"];
    sizes[1]["copy_GBps"] = nullptr;
    sizes.push_back({{"bytes", 1e300}, {"copy_GBps", 500}});
    sizes.push_back("512 KiB");
  }
  run.between()["by_size"][1]["copy_GBps"] = nullptr;
  run.add(0, 1, "cma/memory");
  EXPECT_EQ(run.only_row()["GBps"], 80) << "of 8 KiB";
}

TEST(HostLimits, OfSeveralHostsAreThoseOfTheirOwnMemory) {
  SharedMemoryRun run;
  auto& hosts = run.result.machine["hosts"];
  hosts.push_back(hosts[0]);
  hosts[1]["name"] = "there";
  hosts[1]["memory_copy"]["all_cores"]["copy_GBps"] = 4;
  for (const int rank : {1, 2}) run.result.ranks[static_cast<std::size_t>(rank)]["host"] = "there";
  run.add(1, 2, "sysv/memory");
  const auto row = run.only_row();
  EXPECT_EQ(row["GBps"], 2);
  EXPECT_EQ(row["resource"], "host memory on there");
  run.add(0, 1, "sysv/memory");  // of two hosts: no copy in one memory
  EXPECT_EQ(run.only_row()["pairs"], 1);
}

TEST(HostLimits, OfTheKernelAreOneCopyByOneCore) {
  SharedMemoryRun named;
  named.add(0, 1, "cma/memory");
  const auto row = named.only_row();
  EXPECT_EQ(row["GBps"], 10);
  EXPECT_EQ(row["resource"], "host memory, by the core of rank 1");
  EXPECT_EQ(row["detail"], "memcpy of 10.0 GB/s on CPU 0");
  SharedMemoryRun read;
  read.add(0, 1, "", "rendezvous, read by the receiver");
  EXPECT_EQ(read.only_row()["GBps"], 10) << "nothing else can read";
  EXPECT_EQ(read.of.limits[0]["complete"], true);
}

TEST(HostLimits, OfThreadsAreThoseOfAsManyCores) {
  SharedMemoryRun run;
  run.of.parameters["threads"] = 2;
  run.add(0, 1, "cma/memory");
  const auto row = run.only_row();
  EXPECT_EQ(row["GBps"], 12) << "two cores would copy 20, and memory carries 24 of traffic";
  EXPECT_EQ(row["resource"], "host memory");
}

TEST(HostLimits, AreAtMostThatWhereUcxDoesNotSayHow) {
  for (const auto* device : {"", "sysv/memory, cma/memory", "xpmem/memory"}) {
    SharedMemoryRun run;
    run.add(0, 1, device);
    EXPECT_EQ(run.only_row()["GBps"], 10) << device;
    EXPECT_EQ(run.of.limits[0]["complete"], false) << device;
  }
}

TEST(HostLimits, OfAllAtOnceShareCoresAndMemory) {
  SharedMemoryRun both_ways;
  both_ways.of.parameters["concurrent"] = "all";
  both_ways.of.shows = shows_of_older(both_ways.of);
  both_ways.add(0, 1, "cma/memory");
  both_ways.add(1, 0, "cma/memory");
  EXPECT_EQ(both_ways.only_row()["share_GBps"], 6) << "of 24 GB/s";
  EXPECT_EQ(both_ways.of.limits[0]["GBps"], 10);
  EXPECT_EQ(both_ways.of.limits[0]["pairs"], 2);
  EXPECT_EQ(both_ways.of.pairs[1]["calibrated_share_GBps"], 6);

  SharedMemoryRun into_one;
  into_one.of.parameters["concurrent"] = "all";
  into_one.of.shows = shows_of_older(into_one.of);
  into_one.add(0, 2, "cma/memory");
  into_one.add(1, 2, "cma/memory");
  EXPECT_EQ(into_one.only_row()["share_GBps"], 5) << "its core makes all copies";

  SharedMemoryRun with_another;
  with_another.of.parameters["concurrent"] = "all";
  with_another.of.shows = shows_of_older(with_another.of);
  with_another.add(0, 1, "cma/memory");
  with_another.add(1, 0, "", "", "ib");
  EXPECT_TRUE(with_another.only_row()["share_GBps"].is_null()) << "what that takes is not known";
}

TEST(HostLimits, OverTcpAreTheKernelsTwoCopies) {
  SharedMemoryRun run;
  run.add(0, 1, "", "", "tcp");
  const auto row = run.only_row();
  EXPECT_EQ(row["GBps"], 6);
  EXPECT_EQ(row["path"], "tcp");
  EXPECT_EQ(row["complete"], false) << "UCX may copy, too";
  EXPECT_EQ(row["detail"], "memcpy of 12.0 GB/s on CPUs 0, 1, copied twice or more");
  run.of.parameters["comm"] = "sockets";
  EXPECT_EQ(run.only_row()["complete"], true);

  SharedMemoryRun both;
  both.of.parameters["concurrent"] = "all";
  both.of.shows = shows_of_older(both.of);
  both.add(0, 1, "", "", "tcp");
  both.add(1, 0, "", "", "tcp");
  EXPECT_EQ(both.only_row()["share_GBps"], 3) << "of what memory carries";
}

TEST(HostLimits, OfAPingPongsPairsAreAtOnce) {
  SharedMemoryRun run;
  run.of.benchmark = "pingpong";
  run.of.parameters.erase("concurrent");
  run.of.shows = shows_of_older(run.of);
  run.add(0, 1, "cma/memory");
  EXPECT_TRUE(run.only_row()["share_GBps"].is_null()) << "nobody to share with";
  run.add(2, 1, "cma/memory");
  EXPECT_EQ(run.only_row()["share_GBps"], 5);
}

TEST(HostLimits, OfAWorkloadAreOfItsWholeExchange) {
  SharedMemoryRun run;
  run.of.parameters.erase("concurrent");
  run.of.shows = shows_of_older(run.of);
  run.of.exchange = {{"bytes", 2e9}};
  run.add(0, 1, "sysv/memory");
  run.of.pairs = {{{"src", 0}, {"dst", 1}, {"bytes", 1e9}},
                  {{"src", 1}, {"dst", 0}, {"bytes", 1e9}}};
  add_limits(run.of, run.result, Graph());
  EXPECT_EQ(run.of.exchange["calibrated_GBps"], 6);
  EXPECT_EQ(run.of.exchange["calibrated_by"], "host memory: memcpy of 12.0 GB/s on CPUs 0, 1");
  EXPECT_TRUE(run.of.limits.empty());
}

TEST(HostLimits, OfAReplayAreOfEachPairToo) {
  SharedMemoryRun run;
  run.of.parameters.erase("concurrent");
  run.of.shows = shows_of_older(run.of);
  run.of.exchange = {{"bytes", 2e9}};
  run.add(0, 1, "sysv/memory");
  run.of.pairs = {{{"src", 0}, {"dst", 1}, {"bytes", 1e9}, {"p50_bytes", 100}},
                  {{"src", 1}, {"dst", 0}, {"bytes", 1e9}}};
  run.result.ranks[0]["numa_node"] = 0;
  run.result.ranks[1]["numa_node"] = 1;
  add_limits(run.of, run.result, Graph());
  const auto& pair = run.of.pairs[0];
  EXPECT_EQ(pair["calibrated_GBps"], 6);
  EXPECT_EQ(pair["class"], "memory");
  EXPECT_EQ(pair["path"], "shm");
  EXPECT_EQ(pair["numa"], "0->1");
  EXPECT_FALSE(run.of.pairs[1].contains("class")) << "its messages are not known";
}

TEST(HostLimits, SayNothingOfWhatIsNotKnown) {
  const auto silent = [](SharedMemoryRun& run) {
    run.add(0, 1, "cma/memory");
    add_limits(run.of, run.result, Graph());
    return run.of.limits.empty() && !run.of.pairs[0].contains("calibrated_GBps");
  };
  SharedMemoryRun elsewhere;
  elsewhere.result.ranks[1]["host"] = "there";
  EXPECT_TRUE(silent(elsewhere));
  SharedMemoryRun older;
  older.result.machine["hosts"][0].erase("memory_copy");
  EXPECT_TRUE(silent(older));
  SharedMemoryRun unmeasured;
  unmeasured.result.machine["hosts"][0]["memory_copy"]["all_cores"]["copy_GBps"] = nullptr;
  EXPECT_TRUE(silent(unmeasured));
  SharedMemoryRun by_another;
  by_another.add(0, 1, "", "", "ib");
  add_limits(by_another.of, by_another.result, Graph());
  EXPECT_TRUE(by_another.of.limits.empty());
}

}  // namespace
}  // namespace ucxbench
