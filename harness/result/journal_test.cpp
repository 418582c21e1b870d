#include "harness/result/journal.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <string>
#include <vector>

#include "harness/core/every_for_test.hpp"
#include "harness/core/folder_for_test.hpp"
#include "harness/core/refusal_for_test.hpp"
#include "harness/result/events.hpp"
#include "harness/result/file.hpp"
#include "harness/result/samples.hpp"

namespace ucxbench {
namespace {

Result begun() {
  Result run;
  run.run = {{"id", "a run"}, {"state", "interrupted"}};
  run.cases.emplace_back().parameters = {{"transports", {"tcp"}}};
  return run;
}

std::vector<Json> events() {
  std::vector<Json> all;
  for (int launch = 0; launch < 3; ++launch) {
    LaunchRecord record{.launch = launch};
    record.samples["latency_us"] = make_samples({1.0 + launch, 2.5 + launch}, 10);
    all.push_back({{"case",
                    {{"index", 0},
                     {"records", {launch_to_json(record)}},
                     {"checked", 1},
                     {"errors", 0},
                     {"peak_buffer_bytes", 8},
                     {"error", ""}}}});
  }
  all.push_back({{"run", {{"state", "complete"}}}});
  return all;
}

/// What is known after so many events.
std::string text_after(std::size_t count) {
  auto run = begun();
  const auto all = events();
  for (std::size_t i = 0; i < count; ++i) apply_event(run, all[i]);
  sum_up(run);
  return to_text(to_json(run));
}

std::string journal() {
  auto text = journal_head(begun());
  for (const auto& event : events()) text += journal_line(begun(), event);
  return text;
}

std::string text_with(std::string_view journal) {
  auto run = begun();
  run.run["journal"] = "run.json.partial";
  take_journal(run, journal, "run.json.partial");
  return to_text(to_json(run));
}

TEST(Journal, CutOffAnywhereHasTheEventsThatAreWhole) {
  const auto whole = journal();
  std::vector<std::string> after;
  for (std::size_t count = 0; count <= events().size(); ++count) after.push_back(text_after(count));
  for (std::size_t bytes = 0; bytes <= whole.size(); bytes += every_trial) {
    const auto cut = std::string_view(whole).substr(0, bytes);
    const auto lines = static_cast<std::size_t>(std::ranges::count(cut, '\n'));
    ASSERT_EQ(text_with(cut), after[lines == 0 ? 0 : lines - 1]) << "cut off at byte " << bytes;
  }
}

TEST(Journal, OfAnotherRunIsNotThisOnes) {
  auto other = begun();
  other.run["id"] = "another";
  EXPECT_EQ(text_with(journal_head(other) + journal_line(other, events()[0])), text_after(0));
  // On a file system without locks two runs may have written into one.
  EXPECT_EQ(text_with(journal_head(begun()) + journal_line(other, events()[1]) +
                      journal_line(begun(), events()[0])),
            text_after(1));
}

TEST(Journal, WithALineOfSomethingElseIsRefused) {
  for (const auto* line : {"{\"case\": {}}", "{\"case\": ", "[]", "", "{\"tune\": 1}"}) {
    const auto what = refusal_by([&] { text_with(journal_head(begun()) + line + "\n"); });
    EXPECT_TRUE(what.starts_with("'run.json.partial' is a damaged journal of a run (line 2: "))
        << what;
    EXPECT_EQ(std::ranges::count(what, '\n'), 0) << what;
  }
}

class Journals : public FolderLikeSys {};

TEST_F(Journals, AreReadByTheRunsNameAndTheirOwn) {
  const auto file = root_ / "run.json";
  auto json = to_json(begun());
  json["run"]["journal"] = "run.json.partial";
  write_atomically(file, to_text(json));
  // The program ended before it had one.
  EXPECT_EQ(to_text(to_json(read_result(file))), text_after(0));
  write_atomically(journal_of(file), journal());
  for (const auto& named : {file, journal_of(file)}) {
    const auto run = read_result(named);
    EXPECT_EQ(run.file, file);
    EXPECT_EQ(to_text(to_json(run)), text_after(events().size()));
  }
}

}  // namespace
}  // namespace ucxbench
