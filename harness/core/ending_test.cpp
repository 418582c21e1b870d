#include "harness/core/ending.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "harness/core/failure.hpp"
#include "harness/core/files.hpp"

namespace ucxbench {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void end_with(const fs::path& folder) {
  end_at_once_on_signals();
  const SignalCleanup cleanup(folder);
  ::raise(SIGTERM);
  ::_exit(0);
}

TEST(SignalCleanup, RemovesAFolderWithItsFiles) {
  GTEST_FLAG_SET(death_test_style, "fast");
  auto name = (fs::temp_directory_path() / "ucxbench-XXXXXX").string();
  ASSERT_NE(::mkdtemp(name.data()), nullptr);
  // More than the kernel lists at once.
  for (int file = 0; file < 300; ++file) {
    fs::create_symlink("nowhere",
                       fs::path(name) / ("a-name-of-some-length-" + std::to_string(file)));
  }
  EXPECT_EXIT(end_with(name), testing::ExitedWithCode(static_cast<int>(Exit::interrupted)), "");
  EXPECT_FALSE(fs::exists(name));
  fs::remove_all(name);
}

}  // namespace
}  // namespace ucxbench
