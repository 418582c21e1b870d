#include "harness/result/file.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <fstream>
#include <iterator>
#include <thread>

#include "harness/core/refusal_for_test.hpp"
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

TEST_F(ResultFile, MakesTheFileThatALinkPointsTo) {
  fs::create_symlink("folder/none.json", folder_ / "link.json");
  fs::create_directory(folder_ / "folder");
  write_atomically(folder_ / "link.json", "new");
  EXPECT_TRUE(fs::is_symlink(folder_ / "link.json"));
  EXPECT_EQ(content(folder_ / "folder" / "none.json"), "new");
}

TEST_F(ResultFile, OfTheProgramsOwnNameFollowsNoLink) {
  write_atomically(folder_ / "other.txt", "theirs");
  for (const char* to : {"other.txt", "none.txt"}) {
    const auto link = folder_ / (std::string("link-to-") + to);
    fs::create_symlink(to, link);
    EXPECT_NE(usage_failure([&] { append_whole(link, "ours", NamedBy::program); }), "accepted");
    write_atomically(link, "ours", NamedBy::program);
    EXPECT_FALSE(fs::is_symlink(link));
    EXPECT_EQ(content(link), "ours");
  }
  EXPECT_EQ(content(folder_ / "other.txt"), "theirs");
  EXPECT_FALSE(fs::exists(folder_ / "none.txt"));
}

TEST_F(ResultFile, WaitsForTheReaderOfANamedPipe) {
  const auto pipe = folder_ / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  const std::string large(200'000, 'x');  // more than a pipe holds
  std::string read;
  std::thread reader([&] { read = content(pipe); });
  write_atomically(pipe, large);
  reader.join();
  EXPECT_EQ(read, large);
  EXPECT_TRUE(fs::is_fifo(pipe));
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
