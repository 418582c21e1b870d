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
  for (const auto& [name, of] : copies.items()) {
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

// What the affinity does not allow must not end the run, nor may all threads of many wait for ever.
TEST(HostCopies, OfCpusThatAreNotThereAreMeasuredElsewhere) {
  const auto copies = measure_copies({1000, 1000, 1000});
  EXPECT_GT(copies.at("all_cores").at("copy_GBps"), 0);
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
