#include "harness/host/copies.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <vector>

#include "harness/topology/cpus.hpp"

namespace ucxbench {
namespace {

TEST(HostCopies, AreOfOneCoreAndOfAll) {
  const auto allowed = allowed_cpus();
  const std::vector<int> cpus = {allowed.front(), allowed.back()};
  const auto copies = measure_copies(cpus);
  EXPECT_EQ(copies.at("one_core").at("cpus"), Json::array({cpus.front()}));
  EXPECT_EQ(copies.at("all_cores").at("cpus"), Json(cpus));
  for (const auto* name : {"one_core", "all_cores"}) {
    const auto& of = copies.at(name);
    EXPECT_EQ(of.at("bytes"), std::size_t{64} << 20U) << name;
    EXPECT_GT(of.at("copy_GBps"), 0) << name;
    std::vector<std::size_t> sizes;
    for (const auto& size : of.at("by_size")) {
      sizes.push_back(size.at("bytes").get<std::size_t>());
      EXPECT_GT(size.at("copy_GBps"), 0) << name << ", " << size;
    }
    ASSERT_EQ(sizes.size(), 6U) << name;
    EXPECT_EQ(sizes.front(), 8192U) << name;
    EXPECT_EQ(sizes.back(), std::size_t{8} << 20U) << name;
    EXPECT_TRUE(std::ranges::is_sorted(sizes)) << name;
  }
}

TEST(HostCopies, AreBetweenEachTwoCores) {
  const auto allowed = allowed_cpus();
  if (allowed.size() < 2) GTEST_SKIP() << "there is one CPU";
  const auto between = measure_copies({allowed[0], allowed[1]}).at("between_cores");
  ASSERT_EQ(between.size(), 1U);
  EXPECT_EQ(between[0].at("cpus"), Json({allowed[0], allowed[1]}));
  EXPECT_EQ(between[0].at("by_size").size(), 6U);
  for (const auto& size : between[0].at("by_size")) EXPECT_GT(size.at("copy_GBps"), 0) << size;
  EXPECT_TRUE(measure_copies({allowed[0], allowed[0]}).at("between_cores").empty());
  EXPECT_TRUE(measure_copies({allowed[0]}).at("between_cores").empty());
}

// What the affinity does not allow must not end the run, nor may all threads of many wait for ever.
TEST(HostCopies, OfCpusThatAreNotThereAreMeasuredElsewhere) {
  const auto copies = measure_copies({1000, 1000, 1000});
  EXPECT_GT(copies.at("all_cores").at("copy_GBps"), 0);
  const auto unknown = measure_copies({1000, 1001}).at("between_cores");
  EXPECT_TRUE(unknown.at(0).at("by_size").at(0).at("copy_GBps").is_null());
}

TEST(HostCopies, TheFasterOfEachPairCounts) {
  const auto copies = [](int reader, double rate) {
    const auto by_size = Json::array({{{"bytes", 8}, {"copy_GBps", rate}}});
    return Json{{"between_cores", Json::array({{{"cpus", {0, reader}}, {"by_size", by_size}}})}};
  };
  EXPECT_EQ(faster_copies(copies(1, 9), copies(1, 7)), copies(1, 9));
  EXPECT_EQ(faster_copies(copies(2, 9), copies(1, 7)), copies(1, 7)) << "of other cores";
  EXPECT_EQ(faster_copies({}, copies(1, 7)), copies(1, 7));
}

TEST(HostCopies, TheFasterCount) {
  const auto copies = [](const Json& alone, const Json& all) {
    return Json{{"one_core", {{"copy_GBps", alone}}}, {"all_cores", {{"copy_GBps", all}}}};
  };
  EXPECT_EQ(faster_copies({}, copies(5, 8)), copies(5, 8));
  EXPECT_EQ(faster_copies(copies(6, 8), copies(5, 9)), copies(6, 9));
  EXPECT_EQ(faster_copies(copies(6, nullptr), copies(nullptr, 9)), copies(6, 9));
}

TEST(HostCopies, TheFasterOfEachSizeCounts) {
  const auto copies = [](const Json& small, const Json& large) {
    const auto by_size =
        Json::array({{{"bytes", 8}, {"copy_GBps", small}}, {{"bytes", 64}, {"copy_GBps", large}}});
    return Json::object({{"one_core", {{"copy_GBps", 5}, {"by_size", by_size}}}});
  };
  EXPECT_EQ(faster_copies(copies(40, 20), copies(30, 25)), copies(40, 25));
  EXPECT_EQ(faster_copies(copies(40, nullptr), copies(nullptr, 25)), copies(40, 25));
  const Json older = {{"one_core", {{"copy_GBps", 4}}}};
  EXPECT_EQ(faster_copies(older, copies(30, 25)), copies(30, 25));
}

}  // namespace
}  // namespace ucxbench
