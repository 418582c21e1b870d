#include "harness/core/files.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

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

TEST_F(Files, ThatAreAbsentAreEmpty) {
  EXPECT_EQ(text_of(folder_ / "none"), "");
  EXPECT_EQ(first_line(folder_ / "none"), "");
  EXPECT_EQ(number_of(folder_ / "none"), std::nullopt);
  EXPECT_TRUE(entries_of(folder_ / "none").empty());
}

}  // namespace
}  // namespace ucxbench
