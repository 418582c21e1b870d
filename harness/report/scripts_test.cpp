#include "harness/report/scripts.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "harness/core/failure.hpp"

namespace ucxbench {
namespace {

class Scripts : public testing::Test {
 protected:
  ~Scripts() override { ::unsetenv("UCXBENCH_PYTHON"); }

  static std::string cannot_run(const std::string& script) {
    try {
      run_script(script, {});
    } catch (const Failure& failure) {
      EXPECT_EQ(failure.exit(), Exit::cannot_run);
      return failure.what();
    }
    ADD_FAILURE() << "no failure";
    return {};
  }
};

TEST_F(Scripts, ReturnTheirExitStatus) {
  ::setenv("UCXBENCH_PYTHON", "/bin/true", 1);
  EXPECT_EQ(run_script("plot", {"--help"}), 0);
  ::setenv("UCXBENCH_PYTHON", "/bin/false", 1);
  EXPECT_EQ(run_script("plot", {}), 1);
}

// The limit is for who does nothing: a dashboard of thousands of runs may take long.
TEST_F(Scripts, AreEndedWhenTheyDoNothing) {
  const auto python =
      std::filesystem::path(testing::TempDir()) / ("python-" + std::to_string(::getpid()));
  ::setenv("UCXBENCH_PYTHON", python.c_str(), 1);
  const auto run = [&](const std::string& text, std::chrono::milliseconds limit) {
    std::ofstream(python) << "#!/bin/sh\n" << text << "\n";
    std::filesystem::permissions(python, std::filesystem::perms::owner_all);
    return run_script("plot", {}, limit);
  };
  using namespace std::chrono_literals;
  // So long no machine keeps a processor from it.
  EXPECT_EQ(run("end=$(($(date +%s) + 5)); while [ $(date +%s) -lt $end ]; do :; done", 3s), 0);
  try {
    run("exec sleep 60", 500ms);
    ADD_FAILURE() << "no failure";
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.exit(), Exit::lost);
    EXPECT_STREQ(failure.what(), "plot did nothing for 0.5 s and was ended");
  }
  std::filesystem::remove(python);
}

TEST_F(Scripts, NameTheSetUpWhenSomethingIsMissing) {
  ::setenv("UCXBENCH_PYTHON", "/no/python", 1);
  EXPECT_EQ(cannot_run("plot"),
            "plot cannot run here: it needs Python 3 with matplotlib, but '/no/python': No such "
            "file or directory; run ./scripts/setup/python in the source tree or set "
            "UCXBENCH_PYTHON");
  EXPECT_NE(cannot_run("no-such-script").find("no-such-script.py' is not installed"),
            std::string::npos);
}

}  // namespace
}  // namespace ucxbench
