#include "harness/analysis/history/causes.hpp"

#include <gtest/gtest.h>

#include "harness/analysis/history/history_for_test.hpp"

namespace ucxbench {
namespace {

std::vector<CauseFacts> facts(const std::string& transport,
                              const std::vector<std::uint64_t>& sizes) {
  std::vector<CauseFacts> rows;
  for (const auto size : sizes) {
    rows.push_back({.fields = {{"metric", "latency"}, {"transports", transport}}, .bytes = size});
  }
  return rows;
}

std::vector<CauseFacts> both(std::vector<CauseFacts> rows, const std::vector<CauseFacts>& more) {
  rows.insert(rows.end(), more.begin(), more.end());
  return rows;
}

TEST(Causes, AreWhatLostRowsAloneHaveInCommon) {
  const std::vector<std::uint64_t> small = {8, 1024}, large = {65536, 1U << 20U},
                                   all = {8, 1024, 65536, 1U << 20U};
  using Found = std::vector<Cause>;
  EXPECT_EQ(causes_of(facts("shm", all), facts("tcp", all)), (Found{{"all shm", 4}}));
  EXPECT_EQ(causes_of(facts("shm", large), both(facts("shm", small), facts("tcp", all))),
            (Found{{"all shm ≥ 64 KiB", 2}}));
  EXPECT_EQ(causes_of(both(facts("shm", large), facts("tcp", large)),
                      both(facts("shm", small), facts("tcp", small))),
            (Found{{"all cases ≥ 64 KiB", 4}}));
  EXPECT_EQ(causes_of(both(facts("shm", small), facts("tcp", large)),
                      both(facts("shm", large), facts("tcp", small))),
            (Found{{"all shm ≤ 1 KiB", 2}, {"all tcp ≥ 64 KiB", 2}}));
  EXPECT_TRUE(causes_of(facts("shm", {8}), facts("tcp", all)).empty());
  EXPECT_TRUE(causes_of(facts("shm", {8, 65536}), facts("shm", {1024, 1U << 20U})).empty());
}

TEST(Causes, NoCommandTakesMoreThanACommitFromARun) {
  MadeNights nights;
  auto& base = nights.add({});
  auto& now = nights.add({});
  now.entry->record->command = {"./ucx-bench", "pingpong", "; rm x", "--json", "run.json"};
  base.path = "runs/a b.json";
  for (const char* commit :
       {"$(rm -rf .)", "abc; rm x", "abcdef0; rm x", "--output=x", "unknown"}) {
    base.entry->record->commit = commit;
    EXPECT_EQ(suspects_between(base, now), "");
    EXPECT_EQ(suspects_between(now, base), "");
    EXPECT_EQ(commands_after(base, now, now).size(), 1U);
  }
  base.entry->record->commit = std::string(40, '0');
  now.entry->record->commit = "1a2b3c4d5e6f7890";
  const auto commands = commands_after(base, now, now);
  ASSERT_EQ(commands.size(), 3U);
  EXPECT_EQ(commands[0].second, "git log --oneline 000000000000..1a2b3c4d5e6f");
  EXPECT_EQ(commands[1].second,
            "./ucx-bench pingpong '; rm x' --json again.json && ucx-bench compare 'runs/a b.json' "
            "again.json --fail-on regression");
  EXPECT_TRUE(commands[2].second.starts_with(
      "git bisect start 1a2b3c4d5e6f 000000000000 && git bisect run sh -c 'scripts/setup/build"));
  // A command that would start another program is not to be typed.
  now.entry->record->command = {"ucx-bench", "ab", "--new=/tmp/x"};
  EXPECT_EQ(commands_after(base, now, now).size(), 1U);
}

}  // namespace
}  // namespace ucxbench
