#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "harness/core/failure.hpp"

namespace ucxbench {

/// Of tests of what `read_file` makes of a TOML file's text.
template <auto read_file>
class ReadsToml : public ::testing::Test {
 protected:
  ~ReadsToml() override { std::filesystem::remove(file_); }

  auto read(const std::string& text) {
    std::ofstream(file_) << text;
    return read_file(file_);
  }
  /// Without the file's name.
  std::string refusal(const std::string& text) {
    try {
      read(text);
    } catch (const Failure& failure) {
      EXPECT_EQ(failure.exit(), Exit::usage);
      const std::string what = failure.what();
      EXPECT_TRUE(what.starts_with(file_)) << what;
      return what.substr(file_.size());
    }
    return "accepted";
  }

  std::string file_ =
      std::filesystem::temp_directory_path() / ("test-" + std::to_string(::getpid()) + ".toml");
};

}  // namespace ucxbench
