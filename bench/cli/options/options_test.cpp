#include "bench/cli/options/options.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "harness/analysis/asked.hpp"
#include "harness/core/failure.hpp"
#include "harness/report/report.hpp"

namespace ucxbench {
namespace {

class Options : public ::testing::Test {
 protected:
  Options() {
    command_->add_option("--sizes", sizes_);
    command_->add_flag("--strict", strict_);
  }
  ~Options() override {
    unsetenv("UCXBENCH_SIZES");
    unsetenv("UCXBENCH_SIZE_LIST");
    unsetenv("UCXBENCH_SIZE");
    unsetenv("UCXBENCH_INTERNAL_RANK");
    std::filesystem::remove(file_);
  }

  void parse(const std::vector<std::string>& words) {
    add_environment_twins(app_);
    auto reversed = words;
    std::reverse(reversed.begin(), reversed.end());
    app_.parse(reversed);
  }
  void configure(const std::string& text) {
    std::ofstream(file_) << text;
    apply_config_file(app_, *command_, file_);
  }

  CLI::App app_;
  CLI::App* command_ = app_.add_subcommand("pingpong", "");
  std::string sizes_ = "default";
  bool strict_ = false;
  std::string file_ = "options_test_" + std::to_string(getpid()) + ".toml";
};

TEST(Asked, WhereResultsGoAsksForNothingElse) {
  for (const auto& [name, format] : formats()) {
    if (name == "table") continue;  // has no option
    Result result;
    result.run["command"] = {"ucx-bench", "pingpong", "--" + name, "file"};
    EXPECT_EQ(asked_in_words(result), "pingpong");
  }
}

TEST_F(Options, CommandLineBeatsEnvironmentBeatsFileBeatsDefault) {
  parse({"pingpong"});
  EXPECT_EQ(sizes_, "default");
  configure("[pingpong]\nsizes = \"file\"\nstrict = true\n");
  EXPECT_EQ(sizes_, "file");
  EXPECT_TRUE(strict_);

  setenv("UCXBENCH_SIZES", "environment", 1);
  parse({"pingpong"});
  configure("sizes = \"file\"\n");
  EXPECT_EQ(sizes_, "environment");

  parse({"pingpong", "--sizes", "line"});
  configure("sizes = \"file\"\n");
  EXPECT_EQ(sizes_, "line");
}

TEST_F(Options, UnknownNamesAreRefusedWithTheNearest) {
  parse({"pingpong"});
  try {
    configure("[pingpong]\nsises = 8\n");
    FAIL();
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.exit(), Exit::usage);
    EXPECT_NE(std::string(failure.what()).find("'sises': did you mean 'sizes'?"), std::string::npos)
        << failure.what();
  }
  setenv("UCXBENCH_SIZE_LIST", "8", 1);
  EXPECT_THROW(parse({"pingpong"}), Failure);
}

TEST_F(Options, AnotherCommandsVariableIsTold) {
  std::string size;
  app_.add_subcommand("transpose", "")->add_option("--size", size);
  setenv("UCXBENCH_SIZE", "8", 1);
  parse({"pingpong"});
  EXPECT_EQ(unused_twins(app_, *command_),
            std::vector<std::string>{"UCXBENCH_SIZE of the environment is not used: 'pingpong' has "
                                     "no such option; did you mean 'UCXBENCH_SIZES'?"});
  setenv("UCXBENCH_INTERNAL_RANK", "0", 1);
  parse({"transpose"});
  EXPECT_TRUE(unused_twins(app_, *app_.get_subcommand("transpose")).empty());
}

TEST_F(Options, AFileThatIsNotThereIsRefused) {
  parse({"pingpong"});
  EXPECT_THROW(apply_config_file(app_, *command_, "/nowhere/at-all.toml"), Failure);
}

TEST_F(Options, GivenWordsAreOfEverySource) {
  setenv("UCXBENCH_SIZES", "environment", 1);
  parse({"pingpong"});
  configure("strict = true\n");
  EXPECT_EQ(given_words(*command_),
            (std::vector<std::string>{"pingpong", "--sizes=environment", "--strict"}));
}

}  // namespace
}  // namespace ucxbench
