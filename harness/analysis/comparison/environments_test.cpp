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

TEST(Environments, WarningsOfUcxAreThere) {
  auto base = in_environment(Json::object(), Json::object(), Json::object());
  auto now = base;
  base.ucx["warnings"] = {{{"line", "WARN both"}}};
  now.ucx["warnings"] = {{{"line", "WARN both"}}, {{"line", "WARN unused env variable: UCX_IB_X"}}};
  const std::string unused = "WARN unused env variable: UCX_IB_X";
  EXPECT_EQ(differences_of(base, now),
            (std::vector<std::string>{"UCX says in new alone: " + unused,
                                      "UCX says on both sides: WARN both"}));
  EXPECT_EQ(differences_of(now, base),
            (std::vector<std::string>{"UCX says in base alone: " + unused,
                                      "UCX says on both sides: WARN both"}));
  // Lines that differ in an address alone are the same; of many the first are enough.
  base.ucx["warnings"] = {{{"line", "WARN 0x7f01 of 3"}}};
  now.ucx["warnings"] = {{{"line", "WARN 0x7f02 of 4"}},
                         {{"line", "a"}},
                         {{"line", "b"}},
                         {{"line", "c"}},
                         {{"line", "d"}}};
  EXPECT_EQ(differences_of(base, now),
            (std::vector<std::string>{"UCX says in new alone: a", "UCX says in new alone: b",
                                      "UCX says in new alone: c",
                                      "UCX says in new alone: 1 line more, in the run file",
                                      "UCX says on both sides: WARN 0x7f01 of 3"}));
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

/// Of one ping-pong over tcp.
Result set_up(const std::vector<std::string>& options, const Json& parameters, const char* cpus,
              const char* threshold) {
  Result result;
  result.run["asked"] = {"pingpong", "--transports=tcp", "--json=run.json"};
  for (const auto& option : options) result.run["asked"].push_back(option);
  result.ucx = {{"version", "1.13.1"},
                {"environment", {{"effective", {{"tcp", {{"UCX_RNDV_THRESH", threshold}}}}}}}};
  result.ranks = Json::array({{{"rank", 0}, {"cpus", {0}}}, {{"rank", 1}, {"cpus", {cpus}}}});
  Case of;
  of.key = "pingpong/tcp/8B";
  of.parameters = {{"net_devices", "lo"}, {"check", "sample"}, {"bytes", 8}};
  of.parameters.update(parameters);
  result.cases = {of};
  return result;
}

// Keys are equal, and each of these decides how fast it is.
TEST(SetUp, IsADifferenceWhereKeysAreEqual) {
  const auto base = set_up({}, Json::object(), "1", "auto");
  EXPECT_EQ(environment_differences(base, base), std::vector<std::string>());
  struct Of {
    Result now;
    std::vector<std::string> lines;
  };
  for (const auto& [now, lines] :
       {Of{set_up({"--net-devices=eth0"}, {{"net_devices", "eth0"}}, "1", "auto"),
           {"--net-devices not given -> eth0"}},
        Of{set_up({}, {{"net_devices", "eth0"}}, "1", "auto"), {"net_devices lo -> eth0"}},
        Of{set_up({"--ucx=UCX_RNDV_THRESH=1k"}, Json::object(), "1", "1K"),
           {"--ucx not given -> UCX_RNDV_THRESH=1k"}},
        Of{set_up({}, Json::object(), "1", "1K"), {"UCX_RNDV_THRESH auto -> 1K"}},
        Of{set_up({"--bind=none"}, Json::object(), "0", "auto"),
           {"--bind not given -> none", "CPUs of rank 1 1 -> 0"}},
        Of{set_up({"--check=off"}, {{"check", "off"}}, "1", "auto"), {"--check not given -> off"}},
        Of{set_up({"--json=other.json", "--launches=8"}, Json::object(), "1", "auto"), {}}}) {
    EXPECT_EQ(environment_differences(base, now), lines);
    EXPECT_EQ(differences_of(base, now), lines);
  }
}

TEST(SetUp, ARankIsTheSameByItsHostWhateverItsNumber) {
  auto base = set_up({}, Json::object(), "1", "auto");
  base.ranks[0]["host"] = "a";
  base.ranks[1]["host"] = "b";
  auto now = base;
  std::swap(now.ranks[0]["host"], now.ranks[1]["host"]);
  std::swap(now.ranks[0]["cpus"], now.ranks[1]["cpus"]);
  EXPECT_EQ(environment_differences(base, now), std::vector<std::string>());
  now.ranks[0]["cpus"] = {"3"};
  EXPECT_EQ(environment_differences(base, now),
            std::vector<std::string>{"CPUs of rank 0 (1 in the base run) 1 -> 3"});
}

TEST(SetUp, OfAnotherReleaseIsTheRelease) {
  const auto base = set_up({}, Json::object(), "1", "auto");
  auto now = set_up({}, Json::object(), "1", "8K");
  now.ucx["version"] = "1.22.0";
  EXPECT_EQ(environment_differences(base, now), std::vector<std::string>{"UCX 1.13.1 -> 1.22.0"});
}

TEST(Environments, SeveralVersionsAreNoneOfThem) {
  Result base;
  base.ucx = {{"version", "1.13.1"}};
  auto now = base;
  now.ucx["versions"] = {{{"version", "1.13.1"}, {"ranks", {0}}, {"hosts", {"node0"}}},
                         {{"version", "1.22.0"}, {"ranks", {1}}, {"hosts", {"node1"}}}};
  EXPECT_EQ(
      environment_differences(base, now),
      std::vector<std::string>{"UCX 1.13.1 -> 1.13.1 (rank 0 on node0), 1.22.0 (rank 1 on node1)"});
  EXPECT_EQ(deciding_differences(deciding_environment(base), deciding_environment(now)),
            std::vector<std::string>{"UCX 1.13 -> 1.13+1.22"});
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
