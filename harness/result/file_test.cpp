#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <fstream>
#include <iterator>

#include "harness/core/refusal_for_test.hpp"
#include "harness/result/new_file.hpp"
#include "harness/result/result.hpp"

namespace ucxbench {
namespace {

namespace fs = std::filesystem;

class ResultFile : public testing::Test {
 protected:
  ResultFile() { fs::create_directories(folder_); }
  ~ResultFile() override { fs::remove_all(folder_); }

  static std::string content(const fs::path& file) {
    std::ifstream in(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }

  fs::path folder_ =
      fs::temp_directory_path() / ("ucx-bench-file-test-" + std::to_string(getpid()));
};

template <typename Action>
std::string usage_failure(Action action) {
  const auto what = refusal_by(action);
  EXPECT_NE(what, "accepted");
  return what;
}

TEST_F(ResultFile, ReplacesAWholeFileAndLeavesNothingElse) {
  const auto file = folder_ / "run.json";
  write_atomically(file, "first, which is longer");
  write_atomically(file, "second");
  EXPECT_EQ(content(file), "second");
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), {}), 1);
}

TEST_F(ResultFile, WritesThroughLinksAndToDevices) {
  fs::create_symlink("target.json", folder_ / "link.json");
  write_atomically(folder_ / "target.json", "old");
  write_atomically(folder_ / "link.json", "new");
  EXPECT_TRUE(fs::is_symlink(folder_ / "link.json"));
  EXPECT_EQ(content(folder_ / "target.json"), "new");
  write_atomically("/dev/null", "gone");
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
}

// As a shell's >(command) names it.
TEST_F(ResultFile, WritesToAPipe) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe(ends.data()), 0);
  write_atomically("/dev/fd/" + std::to_string(ends[1]), "whole");
  std::array<char, 8> text{};
  EXPECT_EQ(::read(ends[0], text.data(), text.size()), 5);
  ::close(ends[0]);
  ::close(ends[1]);
}

// By the number of the process, another user could lay a link there.
TEST_F(ResultFile, WritesUnderANameThatNobodyForesees) {
  write_atomically(folder_ / "other.txt", "theirs");
  fs::create_symlink("other.txt", folder_ / (".run.json." + std::to_string(getpid()) + ".tmp"));
  write_atomically(folder_ / "run.json", "ours");
  EXPECT_EQ(content(folder_ / "other.txt"), "theirs");
  EXPECT_FALSE(fs::is_symlink(folder_ / "run.json"));
}

TEST_F(ResultFile, IsNotNewWhereALinkStands) {
  write_atomically(folder_ / "other.txt", "theirs");
  fs::create_symlink("other.txt", folder_ / "link");
  fs::create_symlink("none.txt", folder_ / "nowhere");
  for (const char* name : {"other.txt", "link", "nowhere"}) {
    EXPECT_EQ(write_new(folder_ / name, "ours"), EEXIST) << name;
  }
  EXPECT_EQ(content(folder_ / "other.txt"), "theirs");
  EXPECT_FALSE(fs::exists(folder_ / "none.txt"));
  EXPECT_EQ(write_new(folder_ / "new", "ours"), 0);
  EXPECT_EQ(content(folder_ / "new"), "ours");
}

TEST_F(ResultFile, SaysWhyItCannotWrite) {
  EXPECT_EQ(usage_failure([&] { write_atomically(folder_ / "none" / "run.json", "x"); }),
            "cannot write '" + (folder_ / "none" / "run.json").string() +
                "': No such file or directory; choose another path");
  EXPECT_EQ(usage_failure([&] { write_atomically(folder_, "x"); }),
            "cannot write '" + folder_.string() + "': Is a directory; choose another path");
  EXPECT_NE(usage_failure([] { write_atomically("/dev/full", "x"); }).find("No space left"),
            std::string::npos);
  EXPECT_TRUE(fs::is_empty(folder_));
}

TEST_F(ResultFile, SaysWhyItCannotRead) {
  EXPECT_EQ(usage_failure([&] { read_result(folder_ / "none.json"); }),
            "cannot read '" + (folder_ / "none.json").string() +
                "': No such file or directory; give a file written by ucx-bench --json");
  EXPECT_NE(usage_failure([&] { read_result(folder_); }).find("Is a directory"), std::string::npos);
  // A file of holes: it takes no space.
  write_atomically(folder_ / "large.json", "{");
  fs::resize_file(folder_ / "large.json", (std::uintmax_t{1} << 30U) + 1);
  EXPECT_EQ(usage_failure([&] { read_result(folder_ / "large.json"); }),
            "'" + (folder_ / "large.json").string() +
                "' is larger than 1024 MiB; give a file written by ucx-bench --json");
}

TEST_F(ResultFile, ReadsWhatItWrote) {
  Result result;
  result.run["id"] = "x";
  write_atomically(folder_ / "run.json", to_text(to_json(result)));
  EXPECT_EQ(read_result(folder_ / "run.json").run.at("id"), "x");
}

}  // namespace
}  // namespace ucxbench
