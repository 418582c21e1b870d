#include "harness/analysis/comparison/environments.hpp"

#include <gtest/gtest.h>

namespace ucxbench {
namespace {

Result in_environment(const Json& variables, const Json& settings, const Json& libraries) {
  Result result;
  result.run = {{"variables", variables}};
  result.machine = {{"hosts", {{{"kernel_settings", settings}}}}};
  result.ucx = {{"libraries", libraries}};
  return result;
}

TEST(Environments, APreloadedLibraryDiffers) {
  const auto base =
      in_environment(Json::object(), Json::object(), {{"libc.so.6", "/lib/libc.so.6"}});
  const auto now =
      in_environment({{"LD_PRELOAD", "/x/libdelay.so"}}, Json::object(),
                     {{"libc.so.6", "/lib/libc.so.6"}, {"libdelay.so", "/x/libdelay.so"}});
  EXPECT_EQ(environment_differences(base, now),
            (std::vector<std::string>{"library libdelay.so not loaded -> /x/libdelay.so",
                                      "LD_PRELOAD not set -> /x/libdelay.so"}));
}

TEST(Environments, AWarningOfUcxOnOneSideDiffers) {
  auto base = in_environment(Json::object(), Json::object(), Json::object());
  auto now = base;
  base.ucx["warnings"] = {{{"line", "WARN both"}}};
  now.ucx["warnings"] = {{{"line", "WARN both"}}, {{"line", "WARN unused env variable: UCX_IB_X"}}};
  const auto said = [](const Result& one, const Result& other) {
    const auto all = differences_of(one, other);
    return all.empty() ? "" : all.back();
  };
  EXPECT_EQ(said(base, now), "UCX says in new alone: WARN unused env variable: UCX_IB_X");
  EXPECT_EQ(said(now, base), "UCX says in base alone: WARN unused env variable: UCX_IB_X");
  EXPECT_EQ(said(now, now), "");
}

TEST(Environments, AKernelSettingDiffers) {
  const auto base =
      in_environment(Json::object(), {{"net.core.rmem_max", "212992"}}, Json::object());
  const auto now = in_environment(Json::object(), {{"net.core.rmem_max", "4096"}}, Json::object());
  EXPECT_EQ(environment_differences(base, now),
            std::vector<std::string>{"net.core.rmem_max 212992 -> 4096"});
}

Result on_hosts(const std::vector<std::pair<std::string, std::string>>& governors) {
  Result result;
  result.machine = {{"hosts", Json::array()}};
  for (const auto& [name, governor] : governors) {
    result.machine["hosts"].push_back({{"name", name},
                                       {"kernel", governor == "performance" ? "6.1" : "6.2"},
                                       {"governor", governor}});
  }
  return result;
}

TEST(Environments, AHostThatDiffersIsNamed) {
  const auto base = on_hosts({{"a", "performance"}, {"b", "performance"}, {"c", "performance"}});
  // In another order they are the same hosts.
  const auto now = on_hosts({{"a", "performance"}, {"c", "powersave"}, {"b", "performance"}});
  EXPECT_EQ(
      environment_differences(base, now),
      (std::vector<std::string>{"host a, b, c (3 hosts) -> a, c, b (3 hosts)",
                                "c: kernel 6.1 -> 6.2", "c: governor performance -> powersave"}));
}

TEST(Environments, WhatAllHostsHaveIsSaidOnce) {
  const auto base = on_hosts({{"a", "performance"}, {"b", "performance"}});
  const auto now = on_hosts({{"a", "powersave"}, {"b", "powersave"}});
  EXPECT_EQ(environment_differences(base, now),
            (std::vector<std::string>{"kernel 6.1 -> 6.2", "governor performance -> powersave"}));
}

TEST(Environments, ManyLibrariesAreOneLine) {
  Json before = Json::object();
  Json after = Json::object();
  for (const char* name : {"liba", "libb", "libc", "libd", "libe", "libf"}) {
    before[name] = "/one";
    after[name] = "/other";
  }
  EXPECT_EQ(environment_differences(in_environment(Json::object(), Json::object(), before),
                                    in_environment(Json::object(), Json::object(), after)),
            std::vector<std::string>{"libraries liba, libb, libc, libd and 2 more differ"});
}

TEST(Environments, WhatAnOlderFileDoesNotHaveIsNoDifference) {
  const auto now = in_environment({{"LD_LIBRARY_PATH", "/opt"}}, {{"vm.swappiness", "60"}},
                                  {{"libc.so.6", "/lib/libc.so.6"}});
  EXPECT_TRUE(environment_differences({}, now).empty());
}

TEST(Environments, WhatAbAddedToOneSideDiffers) {
  Result base;
  Result now;
  base.run["ab"]["environment"] = Json::object();
  now.run["ab"]["environment"] = {{"DELAY_US", "300"}};
  EXPECT_EQ(environment_differences(base, now),
            std::vector<std::string>{"DELAY_US not set -> 300"});
}

}  // namespace
}  // namespace ucxbench
