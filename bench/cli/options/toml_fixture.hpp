#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "harness/core/refusal_for_test.hpp"

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
    const auto what = refusal_by([&] { read(text); });
    if (what == "accepted") return what;
    EXPECT_TRUE(what.starts_with(file_)) << what;
    return what.substr(file_.size());
  }

  std::string file_ =
      std::filesystem::temp_directory_path() / ("test-" + std::to_string(::getpid()) + ".toml");
};

}  // namespace ucxbench
