#include "harness/host/copies.hpp"

#include <gtest/gtest.h>

#include <algorithm>

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

}  // namespace
}  // namespace ucxbench
