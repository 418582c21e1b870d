#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace ucxbench {

/// A folder like / or /sys, with files as the test writes them.
class FolderLikeSys : public testing::Test {
 protected:
  FolderLikeSys()
      : root_(std::filesystem::temp_directory_path() /
              ("like-sys-" + std::to_string(getpid()) + "-" +
               testing::UnitTest::GetInstance()->current_test_info()->name())) {
    std::filesystem::create_directories(root_);
  }
  ~FolderLikeSys() override { std::filesystem::remove_all(root_); }

  void write(const std::filesystem::path& file, const std::string& text) const {
    std::filesystem::create_directories((root_ / file).parent_path());
    std::ofstream(root_ / file) << text << "\n";
  }

  std::filesystem::path root_;
};

}  // namespace ucxbench
