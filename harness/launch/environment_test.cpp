#include "harness/launch/environment.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>

namespace ucxbench {
namespace {

bool has(const RankEnvironment& environment, const std::string& entry) {
  return std::ranges::count(environment.entries, entry) == 1;
}

TEST(Environment, UserWinsOverCaseOverInherited) {
  const auto result = rank_environment({{"PATH", "/bin"},
                                        {"UCX_TLS", "all"},
                                        {"UCX_A", "0"},
                                        {"UCX_LOG_LEVEL", "info"},
                                        {"UCX_S", "1"}},
                                       {{"UCX_TLS", "tcp"}, {"UCX_A", "1"}, {"UCX_S", "1"}},
                                       {{"UCX_A", "2"}, {"OTHER", "x"}});
  for (const auto* entry : {"PATH=/bin", "UCX_TLS=tcp", "UCX_A=2", "UCX_LOG_LEVEL=info", "OTHER=x",
                            "UCX_HANDLE_ERRORS=none"}) {
    EXPECT_TRUE(has(result, entry)) << entry;
  }
  EXPECT_EQ(result.entries.size(), 7U);
  EXPECT_EQ(result.asked,
            (Variables{{"UCX_TLS", "tcp"}, {"UCX_A", "2"}, {"UCX_S", "1"}, {"OTHER", "x"}}));
  EXPECT_EQ(result.inherited, (Variables{{"UCX_LOG_LEVEL", "info"}}));
  EXPECT_EQ(result.replaced, (Variables{{"UCX_TLS", "all"}, {"UCX_A", "0"}}));
}

TEST(Environment, ErrorHandlingIsTheUsersOnly) {
  EXPECT_TRUE(
      has(rank_environment({{"UCX_HANDLE_ERRORS", "bt"}}, {}, {}), "UCX_HANDLE_ERRORS=none"));
  EXPECT_TRUE(has(rank_environment({}, {}, {{"UCX_HANDLE_ERRORS", "bt"}}), "UCX_HANDLE_ERRORS=bt"));
}

TEST(Environment, TheTokenStaysBehind) {
  EXPECT_EQ(rank_environment({{"UCXBENCH_TOKEN", "secret"}}, {}, {}).entries,
            std::vector<std::string>{"UCX_HANDLE_ERRORS=none"});
}

TEST(Environment, ReadsTheCallersOwn) {
  ::setenv("UCXBENCH_ENVIRONMENT_TEST", "a=b", 1);
  EXPECT_EQ(current_environment().at("UCXBENCH_ENVIRONMENT_TEST"), "a=b");
}

TEST(UcxConf, IsFoundWhereUcxLooksInItsOrder) {
  const std::filesystem::path root =
      testing::TempDir() + "/ucx_conf_test-" + std::to_string(getpid());
  const auto write = [&](const std::filesystem::path& folder, const char* text) {
    std::filesystem::create_directories(root / folder);
    std::ofstream(root / folder / "ucx.conf") << text;
  };
  std::filesystem::create_directories(root / "usr/lib");
  std::filesystem::create_directories(root / "custom/ucx.conf");  // a folder is no file
  write("usr/etc", "UCX_TLS=tcp\n");
  write("home", "; note\n# note\n[section]\n\nUCX_TLS = sm ; why\nUCX_NET_DEVICES: lo\nnonsense\n");
  write("work", "UCX_A=b;c\n");
  const auto found = find_ucx_conf(
      {{"HOME", root / "home"}, {"UCX_CONFIG_DIR", root / "custom"}},
      {.system = root / "none", .library = root / "usr/lib/libucs.so.0", .working = root / "work"});
  std::filesystem::remove_all(root);
  ASSERT_EQ(found.size(), 3U);
  EXPECT_EQ(found[0].path, root / "usr/etc/ucx.conf");
  EXPECT_EQ(found[0].settings, (Variables{{"UCX_TLS", "tcp"}}));
  EXPECT_EQ(found[1].settings, (Variables{{"UCX_TLS", "sm"}, {"UCX_NET_DEVICES", "lo"}}));
  EXPECT_EQ(found[2].settings, (Variables{{"UCX_A", "b;c"}}));
}

}  // namespace
}  // namespace ucxbench
