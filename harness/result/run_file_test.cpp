#include "harness/result/run_file.hpp"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/resource.h>

#include <csignal>
#include <fstream>
#include <string>
#include <vector>

#include "harness/core/files.hpp"
#include "harness/core/folder_for_test.hpp"
#include "harness/core/refusal_for_test.hpp"
#include "harness/result/journal.hpp"
#include "harness/result/transfers.hpp"

namespace ucxbench {
namespace {

namespace fs = std::filesystem;

class RunFiles : public FolderLikeSys {
 protected:
  RunFiles() {
    fs::create_directories(root_ / "runs");
    fs::create_directories(root_ / "spare");
    ::setenv("TMPDIR", (root_ / "spare").c_str(), 1);
    run_.run = {{"id", "a run"}, {"state", "interrupted"}};
  }
  ~RunFiles() override { ::unsetenv("TMPDIR"); }

  void note(const std::string& text) { file_.add({{"run", {{"note", text}}}}); }

  static Json noted(const fs::path& file) { return read_result(file).run.at("note"); }

  /// From now on nothing can be written there, also not by root.
  void take_away_the_folder() {
    fs::remove_all(root_ / "runs");
    std::ofstream(root_ / "runs") << "a file";
  }

  const fs::path asked_ = root_ / "runs" / "run.json";
  Result run_;
  std::vector<std::string> said_;
  RunFile file_ = [this] {
    run_.file = asked_;
    return RunFile(run_, [this](const std::string& line) { said_.push_back(line); });
  }();
};

TEST_F(RunFiles, StaysWhereItWasAskedFor) {
  file_.begin(0);
  note("first");
  EXPECT_EQ(noted(asked_), "first");
  note("second");
  EXPECT_EQ(noted(asked_), "second");
  EXPECT_EQ(noted(journal_of(asked_)), "second");
  file_.finish();
  EXPECT_EQ(noted(asked_), "second");
  EXPECT_EQ(file_.file(), asked_);
  EXPECT_TRUE(file_.at_its_place() && said_.empty());
  EXPECT_FALSE(fs::exists(journal_of(asked_)));
}

TEST_F(RunFiles, GrowsByWhatIsAdded) {
  file_.begin(0);
  const auto before = fs::file_size(journal_of(asked_));
  const auto begun = fs::last_write_time(asked_);
  note("one event");
  const auto event_bytes = fs::file_size(journal_of(asked_)) - before;
  for (int more = 1; more < 100; ++more) note("one event");
  EXPECT_EQ(fs::file_size(journal_of(asked_)) - before, 100 * event_bytes);
  EXPECT_EQ(fs::last_write_time(asked_), begun);
}

TEST_F(RunFiles, NeedsSpaceBeforeAnythingIsMeasured) {
  const auto what = refusal_by([&] { file_.begin(std::uint64_t{1} << 60U); });
  EXPECT_TRUE(what.starts_with("'" + asked_.string() + "': ")) << what;
  EXPECT_NE(what.find(" are free there, and this run needs at least "), std::string::npos) << what;
  EXPECT_FALSE(fs::exists(asked_));
}

TEST_F(RunFiles, GoesOnElsewhere) {
  file_.begin(0);
  note("first");
  take_away_the_folder();
  note("second");
  EXPECT_EQ(noted(file_.file()), "second");
  note("third");
  EXPECT_EQ(noted(file_.file()), "third");
  file_.finish();
  EXPECT_FALSE(file_.at_its_place());
  EXPECT_EQ(file_.file().filename(), "run.json");
  EXPECT_EQ(noted(file_.file()), "third");
  ASSERT_EQ(said_.size(), 1U);
  EXPECT_EQ(said_[0], "cannot write '" + journal_of(asked_).string() +
                          "': No such file or directory: the run goes on in '" +
                          file_.file().string() + "'");
}

TEST_F(RunFiles, IsSaidToBeNowhere) {
  file_.begin(0);
  take_away_the_folder();
  fs::remove_all(root_ / "spare");
  note("second");
  note("third");
  file_.finish();
  EXPECT_TRUE(file_.file().empty());
  ASSERT_EQ(said_.size(), 1U);
  EXPECT_NE(said_[0].find("nothing is left on disk"), std::string::npos) << said_[0];
}

// As on a disk that is full for a while, where there is no folder for temporary files.
TEST_F(RunFiles, LeaveNoJournalWhereThereIsAPlaceAgain) {
  file_.begin(0);
  note("first");
  fs::remove_all(root_ / "spare");
  rlimit usual{};
  ::getrlimit(RLIMIT_FSIZE, &usual);
  ::signal(SIGXFSZ, SIG_IGN);
  auto full = usual;
  full.rlim_cur = fs::file_size(journal_of(asked_));
  ::setrlimit(RLIMIT_FSIZE, &full);
  note("second");
  EXPECT_TRUE(file_.file().empty());
  ::setrlimit(RLIMIT_FSIZE, &usual);
  note("third");
  file_.finish();
  EXPECT_EQ(noted(asked_), "third");
  EXPECT_FALSE(fs::exists(journal_of(asked_)));
}

TEST_F(RunFiles, TakesItsTransferLogAlong) {
  file_.begin(0);
  const auto section = section_bytes({.case_index = 1}, std::vector<Transfer>(2));
  file_.append_transfers(section);
  EXPECT_EQ(run_.run.at("transfers"), "run.transfers.bin");
  ASSERT_EQ(read_transfers(transfers_file(asked_)).size(), 1U);
  // Only the journal can no longer be written.
  fs::remove(journal_of(asked_));
  fs::create_directory(journal_of(asked_));
  note("second");
  file_.append_transfers(section);
  EXPECT_EQ(read_transfers(transfers_file(file_.file())).size(), 2U);
  EXPECT_EQ(noted(file_.file()), "second");
  EXPECT_FALSE(fs::exists(transfers_file(asked_)) || fs::exists(asked_));
}

TEST_F(RunFiles, IsOfOneRunAtATime) {
  file_.begin(0);
  note("first");
  fs::create_symlink("run.json", root_ / "runs" / "link.json");
  for (const auto* name : {"run.json", "link.json"}) {
    Result other;
    other.run = {{"id", "another"}, {"state", "interrupted"}};
    other.file = root_ / "runs" / name;
    RunFile second(other, [](const std::string&) {});
    EXPECT_EQ(
        refusal_by([&] { second.begin(0); }),
        "'" + asked_.string() + "' is being written by run a run; choose another path with --json");
  }
  EXPECT_EQ(noted(asked_), "first");
}

TEST_F(RunFiles, TakesThePlaceOfOneThatWasKilled) {
  std::ofstream(journal_of(asked_)) << R"({"schema":"ucx-bench/journal/1","run":"killed"})" << "\n";
  file_.begin(0);
  note("first");
  EXPECT_EQ(noted(asked_), "first");
}

// Somebody removes the journal, and another run begins there.
TEST_F(RunFiles, LeavesAnotherRunAlone) {
  file_.begin(0);
  fs::remove(journal_of(asked_));
  Result other;
  other.run = {{"id", "another"}, {"state", "interrupted"}};
  other.file = asked_;
  RunFile second(other, [](const std::string&) {});
  second.begin(0);
  second.add({{"run", {{"note", "of the other"}}}});
  note("of the first");
  EXPECT_EQ(noted(file_.file()), "of the first");
  file_.finish();
  EXPECT_EQ(noted(asked_), "of the other");
}

TEST_F(RunFiles, OverwriteNoFileThroughALink) {
  std::ofstream(root_ / "theirs") << "theirs";
  for (const auto& name : {journal_of(asked_), transfers_file(asked_), stacks_file(asked_)}) {
    fs::create_symlink(root_ / "theirs", name);
  }
  EXPECT_NE(refusal_by([&] { file_.begin(0); }), "accepted");  // by the journal
  fs::remove(journal_of(asked_));
  file_.begin(0);
  file_.append_transfers(section_bytes({.case_index = 1}, std::vector<Transfer>(2)));
  file_.put_stacks("of this one");
  EXPECT_EQ(text_of(root_ / "theirs"), "theirs");
}

TEST_F(RunFiles, KeepTheStacksOfThisRun) {
  std::ofstream(stacks_file(asked_)) << "of an earlier run";
  file_.begin(0);
  EXPECT_FALSE(fs::exists(stacks_file(asked_)));
  EXPECT_EQ(file_.put_stacks("of this one"), root_ / "runs" / "run.stacks.txt");
  EXPECT_TRUE(fs::exists(stacks_file(asked_)));
  take_away_the_folder();
  const auto elsewhere = file_.put_stacks("of this one");
  EXPECT_EQ(elsewhere.parent_path().parent_path(), root_ / "spare");
  fs::remove_all(root_ / "spare");
  EXPECT_EQ(file_.put_stacks("of this one"), "");
}

TEST_F(RunFiles, OfADeviceHaveTheEndAlone) {
  run_.file = "/dev/null";
  RunFile device(run_, [this](const std::string& line) { said_.push_back(line); });
  device.begin(0);
  device.add({{"run", {{"note", "first"}}}});
  device.append_transfers({});
  EXPECT_EQ(device.finish().file, "");
  EXPECT_TRUE(device.at_its_place() && said_.empty());
  EXPECT_FALSE(fs::exists(journal_of("/dev/null")) || fs::exists(transfers_file("/dev/null")));
}

}  // namespace
}  // namespace ucxbench
