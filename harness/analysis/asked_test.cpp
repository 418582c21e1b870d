#include "harness/analysis/asked.hpp"

#include <gtest/gtest.h>

namespace ucxbench {
namespace {

Result asked_by(const std::vector<std::string>& command) {
  Result result;
  result.run = {{"command", command}};
  return result;
}

TEST(Asked, LaunchesAreOfAnOptionOrOfASuitesFile) {
  const auto p2p = asked_by({"ucx-bench", "--progress", "never", "p2p"});
  EXPECT_EQ(command_of(p2p), "p2p");
  EXPECT_EQ(launches_in_words(p2p, "9"), "--launches 9");
  EXPECT_EQ(more_launches_in_words(p2p), "raise --launches");
  const auto suite = asked_by({"ucx-bench", "suite", "merge.toml"});
  EXPECT_EQ(command_of(suite), "suite");
  EXPECT_EQ(launches_in_words(suite, "9"),
            "launches = 9 above the first [[case]] of the suite file");
  EXPECT_EQ(more_launches_in_words(suite),
            "raise launches, above the first [[case]] of the suite file");
  EXPECT_EQ(command_of({}), "");
}

TEST(Asked, TheSameIsOneLine) {
  const auto typed = asked_by({"./ucx-bench", "--progress", "never", "pingpong", "-n", "2",
                               "--transports", "shm", "--json", "a.json", "--sizes=8"});
  const std::string words = "pingpong --ranks 2 --sizes 8 --transports shm";
  EXPECT_EQ(asked_in_words(typed), words);
  EXPECT_EQ(asked_in_words(asked_by({"/opt/ucx-bench", "pingpong", "--sizes", "8", "--transports",
                                     "shm", "--launches", "12", "--tag", "a=b", "--ranks", "2"})),
            words);
  // What came from the environment or from a file stands in `asked` alone.
  auto recorded = asked_by({"ucx-bench", "pingpong"});
  recorded.run["asked"] = {"pingpong", "--transports=shm", "--json=b.json", "--sizes=8",
                           "--ranks=2"};
  EXPECT_EQ(asked_in_words(recorded), words);
}

TEST(Asked, OtherParametersAreAnotherQuestion) {
  const auto of = [](const std::vector<std::string>& options) {
    std::vector<std::string> words = {"ucx-bench", "pingpong"};
    words.insert(words.end(), options.begin(), options.end());
    return asked_in_words(asked_by(words));
  };
  EXPECT_NE(of({"--transports", "tcp"}), of({"--transports", "shm"}));
  EXPECT_NE(of({"--bind", "0,1"}), of({"--bind", "0,2"}));
  EXPECT_NE(of({"--bidirectional", "--sizes", "8"}), of({"--sizes", "8"}));
}

TEST(Asked, ASuiteIsItsFile) {
  EXPECT_EQ(asked_in_words(asked_by({"ucx-bench", "-q", "suite", "./ci/suite.toml"})),
            "suite ci/suite.toml");
  EXPECT_EQ(asked_in_words(asked_by({"ucx-bench", "suite", "--json", "a", "/x/ci/suite.toml"})),
            "suite ci/suite.toml");
  EXPECT_EQ(asked_in_words(asked_by({"ucx-bench", "ab", "suite.toml", "--base", "./old",
                                     "--new-env", "UCX_X=1", "--fail-on", "regression"})),
            "ab suite.toml --new-env UCX_X=1");
  EXPECT_EQ(asked_in_words({}), "?");
}

}  // namespace
}  // namespace ucxbench
