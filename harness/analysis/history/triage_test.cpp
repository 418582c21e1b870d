#include "harness/analysis/history/triage.hpp"

#include <gtest/gtest.h>

namespace ucxbench {
namespace {

Triage of(const std::string& text) { return parse_triage(text, "2026-01-01"); }

TEST(Triage, IsReadAsPeopleWriteIt) {
  auto triage =
      of("---\n"
         "# since the release\n"
         "- id: \"*/tcp/8B latency_us\"   # case and metric\n"
         "  state: accepted\n"
         "  reason: \"a longer header since #31\"\n"
         "  owner: 'ann''s'\n"
         "  expiry: 2027-01-31\n"
         "  day: 2026-11-20\n"
         "\n"
         "- {id: '*', state: ignored, reason: a header, owner: bob, expiry: 2999-01-01}\n"
         "- {id: pingpong/*, state: open,\n"
         "   reason: \"a: \\u00e4\", owner: eve, expiry: 2025-12-31}  # gone\n");
  EXPECT_TRUE(triage.problems.empty()) << triage.problems.front();
  ASSERT_EQ(triage.entries.size(), 3U);
  EXPECT_EQ(triage.entries[0].reason, "a longer header since #31");
  EXPECT_EQ(triage.entries[0].owner, "ann's");
  EXPECT_EQ(triage.entries[2].reason, "a: ä");
  EXPECT_TRUE(triage.entries[2].expired && !triage.entries[0].expired);
  const auto* entry = triage.entry_for("pingpong/tag/host-host/tcp/8B latency_us");
  ASSERT_EQ(entry, &triage.entries[0]);
  EXPECT_TRUE(triage.entries[2].used);
  EXPECT_TRUE(entry->excuses("2026-11-20T08:00:00Z"));
  EXPECT_FALSE(entry->excuses("2026-11-21T08:00:00Z"));
  EXPECT_EQ(triage.entry_for("other"), &triage.entries[1]);
  EXPECT_TRUE(of("").entries.empty() && of("# nothing\n").problems.empty());
}

TEST(Triage, SaysWhatIsWrong) {
  const std::string good = "state: open, reason: a, owner: ann, expiry: 2030-01-01}";
  const std::pair<std::string, std::string> bad[] = {
      {"- [", "'[' is no member of an entry"},
      {"- {id: a, state: open, id: b}", "the key 'id' stands twice"},
      {"- &a x", "is no member of an entry"},
      {"- id: *a", "quote what begins with *"},
      {"- {id: a, state: open", "has no end"},
      {"- id: 'a", "has no closing quote"},
      {"a: b", "line 1: it is not a list of entries"},
      {"- word", "'word' is no member of an entry"},
      {"- {id: a, state: open}", "entry 1 has no reason, owner, expiry"},
      {"- {id: a, more: b, " + good, "entry 1 has more: an entry has"},
      {"- {id: a, state: done, reason: a, owner: ann, expiry: 2030-01-01}",
       "has the state 'done': one of open"},
      {"- {id: a, state: open, reason: a, owner: ann, expiry: soon}",
       "has the expiry 'soon': a day such as"},
      {"- {id: a, day: 1, " + good, "has the day '1'"}};
  for (const auto& [text, words] : bad) {
    const auto triage = of(text);
    ASSERT_EQ(triage.problems.size(), 1U) << text;
    EXPECT_NE(triage.problems[0].find(words), std::string::npos) << text << triage.problems[0];
    EXPECT_TRUE(triage.entries.empty());
  }
  // An entry that is right stands beside one that is not.
  const auto both = of("- {id: a, " + good + "\n- {id: b}\n");
  EXPECT_TRUE(both.entries.size() == 1 && both.problems.size() == 1);
}

}  // namespace
}  // namespace ucxbench
