#include "harness/result/run_file.hpp"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "harness/core/folder_for_test.hpp"
#include "harness/core/refusal_for_test.hpp"
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
  }
  ~RunFiles() override { ::unsetenv("TMPDIR"); }

  static std::string content(const fs::path& file) {
    std::ifstream in(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }

  /// From now on nothing can be written there, also not by root.
  void take_away_the_folder() {
    fs::remove_all(root_ / "runs");
    std::ofstream(root_ / "runs") << "a file";
  }

  const fs::path asked_ = root_ / "runs" / "run.json";
  std::vector<std::string> said_;
  RunFile file_{asked_, [this](const std::string& line) { said_.push_back(line); }};
};

TEST_F(RunFiles, StaysWhereItWasAskedFor) {
  file_.begin("first\n", 0);
  file_.write("second\n");
  EXPECT_EQ(content(asked_), "second\n");
  EXPECT_EQ(file_.file(), asked_);
  EXPECT_TRUE(file_.at_its_place() && said_.empty());
}

TEST_F(RunFiles, NeedsSpaceBeforeAnythingIsMeasured) {
  const auto what = refusal_by([&] { file_.begin("first\n", std::uint64_t{1} << 60U); });
  EXPECT_TRUE(what.starts_with("'" + asked_.string() + "': ")) << what;
  EXPECT_NE(what.find(" are free there, and this run needs at least "), std::string::npos) << what;
  EXPECT_FALSE(fs::exists(asked_));
}

TEST_F(RunFiles, GoesOnElsewhere) {
  file_.begin("first\n", 0);
  take_away_the_folder();
  file_.write("second\n");
  file_.write("third\n");
  EXPECT_FALSE(file_.at_its_place());
  EXPECT_EQ(file_.file().filename(), "run.json");
  EXPECT_EQ(content(file_.file()), "third\n");
  ASSERT_EQ(said_.size(), 1U);
  EXPECT_EQ(said_[0], "cannot write '" + asked_.string() +
                          "': Not a directory: the run goes on in '" + file_.file().string() + "'");
}

TEST_F(RunFiles, IsSaidToBeNowhere) {
  file_.begin("first\n", 0);
  take_away_the_folder();
  fs::remove_all(root_ / "spare");
  file_.write("second\n");
  file_.write("third\n");
  EXPECT_TRUE(file_.file().empty());
  ASSERT_EQ(said_.size(), 1U);
  EXPECT_NE(said_[0].find("nothing is left on disk"), std::string::npos) << said_[0];
}

TEST_F(RunFiles, TakesItsTransferLogAlong) {
  file_.begin("first\n", 0);
  const auto section = section_bytes({.case_index = 1}, std::vector<Transfer>(2));
  file_.append_transfers(section);
  ASSERT_EQ(read_transfers(transfers_file(asked_)).size(), 1U);
  // Only the run file can no longer be written.
  fs::remove(asked_);
  fs::create_directory(asked_);
  file_.write("second\n");
  file_.append_transfers(section);
  EXPECT_EQ(read_transfers(transfers_file(file_.file())).size(), 2U);
  EXPECT_FALSE(fs::exists(transfers_file(asked_)));
}

}  // namespace
}  // namespace ucxbench
