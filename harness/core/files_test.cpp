#include "harness/core/files.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <thread>

#include "harness/core/refusal_for_test.hpp"

namespace ucxbench {
namespace {

class Files : public testing::Test {
 protected:
  void SetUp() override { std::filesystem::create_directories(folder_); }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::filesystem::path write(const std::string& name, const std::string& text) {
    std::ofstream(folder_ / name) << text;
    return folder_ / name;
  }

  std::filesystem::path folder_ =
      std::filesystem::path(testing::TempDir()) / ("files-" + std::to_string(getpid()));
};

TEST_F(Files, AreRead) {
  const auto file = write("a", "42 of\nmany\n");
  EXPECT_EQ(text_of(file), "42 of\nmany\n");
  EXPECT_EQ(first_line(file), "42 of");
  EXPECT_EQ(number_of(file), 42U);
  EXPECT_EQ(number_of(write("b", "max\n")), std::nullopt);
  EXPECT_EQ(entries_of(folder_), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(number_of(write("c", "-1\n")), std::nullopt);
}

TEST_F(Files, ThatAreGivenAreReadWholeOrRefused) {
  constexpr std::uint64_t most = std::uint64_t{2} << 20U;
  const auto refusal = [&](const std::filesystem::path& file) {
    return refusal_by([&] { read_given(file, most, "give a text"); });
  };
  const std::string whole(most, 'x');
  EXPECT_EQ(read_given(write("whole", whole), most, ""), whole);
  EXPECT_EQ(read_given(write("empty", ""), most, ""), "");
  const auto name = "'" + (folder_ / "a").string() + "'";
  EXPECT_EQ(refusal(folder_ / "a"),
            "cannot read " + name + ": No such file or directory; give a text");
  EXPECT_EQ(refusal(write("a", whole + "x")), name + " is larger than 2 MiB; give a text");
  EXPECT_NE(refusal(folder_).find("Is a directory; give a text"), std::string::npos);
  // As a pipe, this one has no size and no end.
  EXPECT_EQ(refusal("/dev/zero"), "'/dev/zero' is larger than 2 MiB; give a text");
}

TEST_F(Files, OfAPipeAreWhatItsWriterWrites) {
  const auto pipe = folder_ / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_EQ(refusal_by([&] { read_given(pipe, 100, "give a text"); }),
            "cannot read '" + pipe.string() + "': Nobody writes to this pipe; give a text");
  std::thread writer([&] {
    std::ofstream out(pipe);
    out << "one " << std::flush;
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    out << "two";
  });
  EXPECT_EQ(read_given(pipe, 100, "give a text"), "one two");
  writer.join();
}

TEST_F(Files, ThatAreAbsentAreEmpty) {
  EXPECT_EQ(text_of(folder_ / "none"), "");
  EXPECT_EQ(first_line(folder_ / "none"), "");
  EXPECT_EQ(number_of(folder_ / "none"), std::nullopt);
  EXPECT_TRUE(entries_of(folder_ / "none").empty());
}

TEST(OwnProgram, IsThisFile) {
  EXPECT_EQ(own_program().filename(), "core_test");
  EXPECT_TRUE(std::filesystem::is_regular_file(own_program()));
}

}  // namespace
}  // namespace ucxbench
