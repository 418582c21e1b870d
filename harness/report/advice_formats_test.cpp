#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "harness/analysis/fixtures.hpp"
#include "harness/analysis/imports/import.hpp"
#include "harness/core/failure.hpp"
#include "harness/report/advice.hpp"
#include "harness/topology/build.hpp"

namespace ucxbench {
namespace {

Graph dgx1() { return import_topology(fixture("dgx1.nccl.xml")); }

// UPDATE_EXPECTED=1 report_test --gtest_filter='AdviceFormats.*' writes the expected texts anew.
void expect_text(const std::string& name, const std::string& text) {
  const auto expected = std::filesystem::path(UCXBENCH_ADVICE) / name;
  if (std::getenv("UPDATE_EXPECTED") != nullptr) std::ofstream(expected) << text;
  EXPECT_EQ(text, text_of(expected)) << name;
}

TEST(AdviceFormats, AreAsExpected) {
  auto advice = advise(dgx1());
  expect_text("dgx1.rankfile", advice_rankfile(advice));
  expect_text("dgx1.srun", advice_srun(advice));
  const Gain gain = {"one/case", "another/case", 1.5, {1.25, 1.75}};
  advice.decisions = {{.lever = Lever::transports, .value = {}, .why_not = WhyNot::one_host},
                      {.lever = Lever::rendezvous, .value = "4096", .gain = gain},
                      {.lever = Lever::pool, .value = "12 GiB", .gain = gain}};
  advice.measured = "made up";
  advice.classes = {{"NV1", 16, 21.1}, {"NV2", 16, 42.5}};
  expect_text("dgx1.env", advice_env(advice));
  expect_text("dgx1.dask", advice_dask(advice, "bandwidths.json"));
  expect_text("dgx1.json", to_text(advice_json(advice)) + "\n");
}

/// All that a user of a format sees, without the breaks of its lines.
std::string seen(AdviceFormat format, const Advice& advice) {
  auto [text, beside] = rendered(format, advice, std::nullopt, "");
  for (const auto& line : beside) text += "\n" + line;
  std::istringstream words(text);
  std::string all;
  for (std::string word; words >> word;) all += word + " ";
  return all;
}

TEST(AdviceFormats, NameTheSetsFromWhichNothingIsAdvised) {
  auto advice = advise(dgx1());
  for (auto& rank : advice.ranks) rank.cpus = {0};
  advice.spoiled = {{"tcp", Unranked::other_transport, "pingpong/tcp/8B", "shm carried it"}};
  for (const auto& [format, name, about] : advice_formats) {
    EXPECT_NE(seen(format, advice)
                  .find("no advice from set tcp, other-transport: pingpong/tcp/8B: shm carried it"),
              std::string::npos)
        << name << seen(format, advice);
  }
}

// A user who takes any of the formats sees why nothing is advised, and what would tell.
TEST(AdviceFormats, SayWhatWasNotMeasured) {
  auto advice = advise(dgx1());
  const std::vector<std::pair<WhyNot, std::string>> reasons = {
      {WhyNot::labelled, "every case that could tell is labelled same-gpu"},
      {WhyNot::one_host, "one host was measured"},
      {WhyNot::not_varied, "nothing was measured that it could be held against"},
      {WhyNot::no_difference, "no other choice was surely faster"},
      {WhyNot::loses,
       "what gains in one case loses in another: 1.50 x as fast (1.25..1.75): "
       "one/case against another/case; 3.00 x as fast (2.50..3.50): third/case "
       "against fourth/case, from rank 0 to rank 3"},
      {WhyNot::in_force, "the run had it"},
      {WhyNot::unknown, "the memory of the GPUs is not known"}};
  advice.labels = {"same-gpu"};
  const Gain gain = {"one/case", "another/case", 1.5, {1.25, 1.75}};
  const Gain loss = {"third/case", "fourth/case", 3, {2.5, 3.5}, std::array{0, 3}};
  for (const auto& [why, words] : reasons) {
    for (const auto& [lever, name, about] : levers) {
      advice.decisions = {
          {.lever = lever, .value = {}, .why_not = why, .gain = gain, .loss = loss}};
      const auto expected = "no advice on " + std::string(name) + ": " + words;
      for (const auto& [format, format_name, about_format] : advice_formats) {
        const auto text = seen(format, advice);
        EXPECT_NE(text.find(expected), std::string::npos) << format_name << ": " << text;
        EXPECT_EQ(text.find("tcp: true"), std::string::npos) << format_name;
      }
    }
  }
}

TEST(AdviceFormats, SayWhatASettingGained) {
  auto advice = advise(dgx1());
  const Gain gain = {"one/case", "another/case", 1.5, {1.25, 1.75}};
  advice.decisions = {{.lever = Lever::rendezvous, .value = "4096", .gain = gain}};
  for (const auto& [format, name, about] : advice_formats) {
    const auto text = seen(format, advice);
    EXPECT_NE(text.find("another/case"), std::string::npos) << name << ": " << text;
    EXPECT_NE(text.find("1.75"), std::string::npos) << name << ": " << text;
  }
}

// A shell puts it into a command.
TEST(AdviceFormats, LeaveNothingButOptionsForSrun) {
  auto advice = advise(dgx1());
  advice.decisions = {{.lever = Lever::transports, .value = {}, .why_not = WhyNot::one_host}};
  const auto [text, beside] = rendered(AdviceFormat::srun, advice, std::nullopt, "");
  EXPECT_EQ(std::ranges::count(text, '\n'), 1);
  EXPECT_TRUE(text.starts_with("--ntasks-per-node=8 --cpu-bind=mask_cpu:0x")) << text;
  EXPECT_FALSE(beside.empty());
}

TEST(AdviceFormats, KeepWhatIsForOneHostOutOfWhatAllJobsTake) {
  auto advice = advise(dgx1());
  advice.decisions = {{.lever = Lever::rendezvous, .value = "4096", .why_not = WhyNot::one_host}};
  advice.classes = {{"NV1", 16, 21.1}};
  EXPECT_NE(advice_env(advice).find("# UCX_RNDV_THRESH=4096, in a job on this host alone"),
            std::string::npos);
  EXPECT_EQ(advice_env(advice).find("export UCX_RNDV"), std::string::npos);
  const auto dask = advice_dask(advice, "");
  EXPECT_NE(dask.find("environment: {}"), std::string::npos);
  EXPECT_EQ(dask.find("scheduler:"), std::string::npos);
  EXPECT_NE(dask.find("# no bandwidth: none was measured between hosts"), std::string::npos);
  EXPECT_EQ(dask.find("bandwidth: 2"), std::string::npos);
  advice.classes.push_back({"", 2, 0.1, true, "cuda"});
  EXPECT_NE(advice_dask(advice, "")
                .find("    # between hosts, cuda memory: 0.1000 GB/s, median of "
                      "2 pairs\n    bandwidth: 100000000\n"),
            std::string::npos)
      << advice_dask(advice, "");
}

TEST(AdviceFormats, SayWhatAPickGains) {
  const auto graph = dgx1();
  const auto pick = pick_gpus(graph, 3);
  const auto advice = advise(graph, pick.best.gpus);
  expect_text("dgx1-pick-3.text", advice_text(advice, pick));
  EXPECT_EQ(visible_devices(advice), "0,2,3");
  const auto all = pick_gpus(graph, 8);
  EXPECT_EQ(visible_devices(advise(graph, all.best.gpus)), "0,3,2,1,5,6,7,4");
  EXPECT_EQ(visible_devices(advise(graph)), "");
}

TEST(AdviceFormats, QuoteWhatOthersHaveNamed) {
  Advice advice;
  advice.graph = graph_of_host("test");
  advice.ranks = {{.rank = 0, .cpus = {0}, .net_devices = "a'; touch /tmp/x; '\n$(id)"}};
  advice.hosts = 2;
  EXPECT_NE(advice_env(advice).find("UCX_NET_DEVICES='a'\\''; touch /tmp/x; '\\'' $(id)'\n"),
            std::string::npos);
  EXPECT_NE(advice_dask(advice, "").find("net-devices: \"a'; touch /tmp/x; ' $(id)\"\n"),
            std::string::npos);
}

// A host may have ranks 0 and 4 of a job: its launcher calls them 0 and 1 there.
TEST(AdviceFormats, ForAShellAreByLocalRank) {
  Advice advice;
  advice.graph = graph_of_host("test");
  advice.ranks = {{.rank = 0, .cpus = {0}}, {.rank = 4, .cpus = {1}}};
  EXPECT_NE(advice_env(advice).find("  0)\n    advised_cpus=0\n    ;;\n"
                                    "  1)  # rank 4\n    advised_cpus=1\n    ;;\n"),
            std::string::npos)
      << advice_env(advice);
  EXPECT_NE(advice_env(advice).find("PMIX_RANK"), std::string::npos);
  advice.hosts = 2;
  EXPECT_EQ(advice_env(advice).find("PMIX_RANK"), std::string::npos) << "it counts all hosts'";
}

TEST(AdviceFormats, OfUnknownCpusAreNone) {
  Advice advice;
  advice.graph = graph_of_host("test");
  advice.ranks = {{.rank = 0}};
  EXPECT_THROW(advice_rankfile(advice), Failure);
  EXPECT_THROW(advice_srun(advice), Failure);
  EXPECT_EQ(advice_env(advice).find("advised_cpus=0"), std::string::npos);
}

}  // namespace
}  // namespace ucxbench
