#include "harness/report/scripts.hpp"

#include <gtest/gtest.h>

#include <cstdlib>

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
