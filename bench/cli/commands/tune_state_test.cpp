#include "bench/cli/commands/tune_state.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include "harness/core/failure.hpp"
#include "harness/core/refusal_for_test.hpp"

namespace ucxbench {
namespace {

namespace fs = std::filesystem;

class KeptSearch : public testing::Test {
 protected:
  ~KeptSearch() override { fs::remove_all(folder_); }
  TuneState state(const std::string& command = "pingpong", const std::string& ucx = "1.22.0") {
    return TuneState(folder_ / "tuned.env.tune.json", command, ucx, "vm-1");
  }
  fs::path folder_ = [] {
    auto folder = fs::temp_directory_path() / ("ucx-bench-tune-test-" + std::to_string(getpid()));
    fs::create_directories(folder);
    return folder;
  }();
  const Variables settings_ = {{"UCX_RNDV_THRESH", "64k"}};
};

TEST_F(KeptSearch, GoesOn) {
  state().keep(settings_, {.gains = {{"row", {0.5, 0.25}}}, .problem = ""});
  auto again = state();
  EXPECT_EQ(again.trials(), 1U);
  EXPECT_EQ(again.trial(settings_).gains.at("row"), (std::vector<double>{0.5, 0.25}));
  EXPECT_TRUE(again.trial({{"UCX_RNDV_THRESH", "inf"}}).gains.empty());
  EXPECT_FALSE(again.confirmation(settings_, {"pingpong"}));
  const auto run = folder_ / "run.json";
  again.keep_confirmation(settings_, {"pingpong"}, {run, run});
  // Run files that are gone confirm nothing.
  EXPECT_FALSE(state().confirmation(settings_, {"pingpong"}));
  std::ofstream(run) << "{}";
  ASSERT_TRUE(state().confirmation(settings_, {"pingpong"}));
  EXPECT_EQ(state().confirmation(settings_, {"pingpong"})->now, run);
  EXPECT_FALSE(state().confirmation({{"UCX_RNDV_THRESH", "inf"}}, {"pingpong"}));
  EXPECT_FALSE(state().confirmation(settings_, {"pingpong", "merge"}));
}

TEST_F(KeptSearch, IsOfOneCommandAndOneUcx) {
  state().keep(settings_, {});
  EXPECT_THROW(state("merge"), Failure);
  EXPECT_THROW(state("pingpong", "1.13.1"), Failure);
  std::ofstream(folder_ / "tuned.env.tune.json") << "{\"schema\": \"ucx-bench/tune/1\"}";
  EXPECT_THROW(state(), Failure);
  std::ofstream(folder_ / "tuned.env.tune.json")
      << R"({"schema": "ucx-bench/tune/1", "schema": "ucx-bench/tune/1"})";
  EXPECT_NE(refusal_by([&] { state(); }).find("the key 'schema' stands twice"), std::string::npos);
  std::ofstream(folder_ / "tuned.env.tune.json") << "no JSON";
  EXPECT_THROW(state(), Failure);
}

}  // namespace
}  // namespace ucxbench
