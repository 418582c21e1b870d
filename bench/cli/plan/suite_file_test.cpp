#include "bench/cli/plan/suite_file.hpp"

#include "bench/cli/options/toml_fixture.hpp"

namespace ucxbench {
namespace {

using SuiteFile = ReadsToml<read_suite>;

TEST_F(SuiteFile, HasCasesAndLimits) {
  const auto suite = read(
      "launches = 12\n"
      "max_time = \"10min\"\n"
      "\n"
      "[[case]]\n"
      "args = \"pingpong --sizes 8\"\n"
      "[[case]]\n"
      "args = 'merge -n 2'\n");
  EXPECT_EQ(suite.launches, 12);
  EXPECT_EQ(suite.max_time, std::chrono::minutes(10));
  ASSERT_EQ(suite.cases.size(), 2U);
  EXPECT_EQ(suite.cases[0].args, "pingpong --sizes 8");
  EXPECT_EQ(suite.cases[1].args, "merge -n 2");
  EXPECT_EQ(suite.cases[1].name, "case 2");
  EXPECT_EQ(suite.cases[1].origin, file_ + ":6: case 2");
  EXPECT_FALSE(read("[[case]]\nargs = \"p2p\"\n").launches);
  EXPECT_FALSE(read("[[case]]\nargs = \"p2p\"\n").max_time);
}

TEST_F(SuiteFile, SaysWhereItIsWrong) {
  const std::string good = "[[case]]\nargs = \"p2p\"\n";
  EXPECT_TRUE(refusal("launches = \n" + good).starts_with(":1: not TOML: ")) << refusal("launches");
  EXPECT_EQ(refusal("launchs = 3\n" + good),
            ":1: unknown key 'launchs': did you mean 'launches'? known: launches, max_time, case");
  EXPECT_TRUE(refusal(good + "arg = 1\n").starts_with(":3: case 1: unknown key 'arg'"));
  for (const auto* wrong : {"launches = 0\n", "launches = \"3\"\n", "launches = 10001\n"}) {
    EXPECT_EQ(refusal(wrong + good), ":1: launches: expected a number, 1 to 10000");
  }
  EXPECT_EQ(refusal("\"a\\nb\" = 1\n" + good),
            ":1: unknown key 'a b': known: launches, max_time, case");
  EXPECT_TRUE(refusal("max_time = \"a\\nb\"\n" + good).starts_with(":1: max_time: duration 'a b'"));
  EXPECT_EQ(refusal("max_time = 10\n" + good),
            ":1: max_time: expected a time in quotes, as \"10min\"");
  EXPECT_TRUE(refusal("\nmax_time = \"soon\"\n" + good).starts_with(":2: max_time: duration"));
  EXPECT_EQ(refusal("launches = 3\n"), ": no [[case]]: there is nothing to measure");
  EXPECT_EQ(refusal("[case]\nargs = \"p2p\"\n"), ":1: expected [[case]], in two pairs of brackets");
  EXPECT_EQ(refusal(good + "[[case]]\nargs = 3\n"),
            ":3: case 2: expected args = \"COMMAND OPTIONS\", as args = \"merge -n 2\"");
  EXPECT_EQ(refusal(good + "[[case]]\n"),
            ":3: case 2: expected args = \"COMMAND OPTIONS\", as args = \"merge -n 2\"");
}

TEST_F(SuiteFile, IsNoLargeFile) {
  const std::string text = "[[case]]\nargs = \"p2p\"\n#";
  constexpr std::size_t most = std::size_t{1} << 20U;
  EXPECT_EQ(read(text + std::string(most - text.size(), ' ')).cases.size(), 1U);
  try {
    read(text + std::string(100 * most, ' '));
    FAIL();
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.what(), "'" + file_ + "' is larger than 1 MiB; give a suite's TOML file");
  }
}

TEST_F(SuiteFile, MustBeThere) {
  try {
    read_suite("/nowhere/suite.toml");
    FAIL();
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.exit(), Exit::usage);
    EXPECT_STREQ(failure.what(),
                 "cannot read '/nowhere/suite.toml': No such file or directory; give a suite's "
                 "TOML file");
  }
}

}  // namespace
}  // namespace ucxbench
