#include "harness/run/rank_reports.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "harness/core/folder_for_test.hpp"
#include "harness/launch/host_name.hpp"
#include "harness/result/labels.hpp"
#include "harness/run/wire.hpp"

namespace ucxbench {
namespace {

class Reports : public FolderLikeSys {
 protected:
  Reports() {
    plan_.name = "tcp, case 2";
    plan_.set = TransportSet::parse("tcp");
    result_.cases.emplace_back();
    result_.cases[0].parameters = Json::object();
    result_.run = {{"id", "a run"}, {"state", "interrupted"}};
    file_.begin(0);
  }

  static Json rank_facts(int rank, const std::string& host, const std::string& boot) {
    return {{"rank", rank},
            {"host", host},
            {"boot_id", boot},
            {"ucx_effective", {{"UCX_TLS", "tcp"}}},
            {"libraries", {{"libucp.so.0", "/lib"}}}};
  }

  const Case* take(const std::string& key, const Json& report) {
    return reports_.take(plan_, "report/" + key, to_bytes(report));
  }

  /// Of the pair src -> src + 1.
  static Json case_report(int launch, int src) {
    LaunchRecord record{.launch = launch, .src = src, .dst = src + 1};
    return {{"index", 0},   {"records", {launch_to_json(record)}},
            {"checked", 0}, {"errors", 0},
            {"error", ""},  {"peak_buffer_bytes", 0}};
  }

  LaunchPlan plan_;
  Result result_{.file = root_ / "run.json"};
  RunFile file_{result_, [](const std::string&) {}};
  RankReports reports_{result_, file_, {}};
};

TEST_F(Reports, SayWhichRanksHaveWhichUcx) {
  const auto say = [&](int rank, const char* version, const char* boot) {
    take("ucx/" + std::to_string(rank),
         {{"rank", rank}, {"host", "node"}, {"boot_id", boot}, {"version", version}});
  };
  say(0, "1.13.1", "one");
  say(1, "1.13.1", "one");
  EXPECT_EQ(reports_.ucx_versions(), Json::array());
  say(2, "1.22.0", "another");
  const Json versions = {{{"version", "1.13.1"}, {"ranks", {0, 1}}, {"hosts", {"node"}}},
                         {{"version", "1.22.0"}, {"ranks", {2}}, {"hosts", {"node (2)"}}}};
  EXPECT_EQ(reports_.ucx_versions(), versions);
  reports_.begin_launch();
  EXPECT_EQ(reports_.ucx_versions(), Json::array());
}

TEST_F(Reports, OfRanksStandInTheirOrderEachOnce) {
  take("rank/1", rank_facts(1, host_name(), boot_id()));
  take("rank/0", rank_facts(0, host_name(), boot_id()));
  take("rank/1", rank_facts(1, host_name(), "another"));
  ASSERT_EQ(result_.ranks.size(), 2U);
  EXPECT_EQ(result_.ranks[0].at("rank"), 0);
  EXPECT_EQ(result_.ranks[1].at("host"), host_name() + " (2)");
  EXPECT_FALSE(result_.ranks[1].contains("boot_id"));
  EXPECT_FALSE(result_.ranks[1].contains("ucx_effective"));
  EXPECT_EQ(result_.ucx.at("environment").at("effective"),
            Json({{"tcp, case 2", {{"UCX_TLS", "tcp"}}}}));
  EXPECT_EQ(result_.ucx.at("libraries").at("libucp.so.0"), "/lib");
}

TEST_F(Reports, OfSeveralPairsAreOneCaseOfALaunch) {
  EXPECT_EQ(take("case/0/0-1", case_report(0, 0)), result_.cases.data());
  EXPECT_EQ(take("case/0/2-3", case_report(0, 2)), nullptr);
  EXPECT_EQ(take("case/0/0-1", case_report(1, 0)), result_.cases.data());
  EXPECT_EQ(result_.cases[0].launches.size(), 3U);
}

TEST_F(Reports, OfProtocolsGoToTheirLaunchAndSender) {
  take("case/0/0-1", case_report(0, 0));
  take("case/0/2-3", case_report(0, 2));
  take("protocols/0/2", {{"index", 0}, {"launch", 0}, {"src", 2}, {"protocols", {{{"bytes", 8}}}}});
  EXPECT_FALSE(result_.cases[0].launches[0].path.contains("protocols"));
  EXPECT_EQ(result_.cases[0].launches[1].path.at("protocols").size(), 1U);
}

TEST_F(Reports, AreOnDiskAtOnce) {
  take("case/0/0-1", case_report(0, 0));
  EXPECT_EQ(read_result(root_ / "run.json").cases.at(0).launches.size(), 1U);
}

TEST_F(Reports, AtTheEndAddOnlyWhatIsNew) {
  take("case/0", case_report(0, 0));
  for (const auto src : {0, 1, 1}) {
    auto again = case_report(0, src);
    again["at_stop"] = true;
    take("case/0", again);
  }
  take("case/0", case_report(0, 1));
  EXPECT_EQ(result_.cases[0].launches.size(), 2U);
  EXPECT_FALSE(has_label(result_.cases[0].launches[0].path, Label::interrupted));
  EXPECT_TRUE(has_label(result_.cases[0].launches[1].path, Label::interrupted));
}

TEST_F(Reports, OfRanksWithoutCpusOfTheirOwnAreLabelled) {
  const auto labels_of_launch = [this](const std::vector<std::vector<int>>& cpus) {
    result_.machine = {{"labels", {"vm"}}};
    reports_.begin_launch();
    for (std::size_t rank = 0; rank < cpus.size(); ++rank) {
      auto facts = rank_facts(static_cast<int>(rank), host_name(), boot_id());
      facts["cpus"] = cpus[rank];
      take(fmt::format("rank/{}", rank), facts);
    }
    return labels_of_machine(result_);
  };
  using Texts = std::vector<std::string>;
  EXPECT_EQ(labels_of_launch({{0, 1}, {0}}), Texts{"vm"});
  EXPECT_EQ(labels_of_launch({{0, 1, 2}, {0, 1}, {0}}), Texts{"vm"});
  EXPECT_EQ(labels_of_launch({{}, {}}), Texts{"vm"}) << "of files that do not say it";
  const Texts crowded = {"vm", "oversubscribed"};
  EXPECT_EQ(labels_of_launch({{0}, {0}, {0}}), crowded);
  EXPECT_EQ(labels_of_launch({{0, 1}, {0, 1}, {2, 3}, {0, 1}}), crowded) << "of four CPUs";
  result_.cases[0].parameters["threads"] = 2;
  plan_.cases = {0};
  EXPECT_EQ(labels_of_launch({{0, 1}, {2, 3}}), Texts{"vm"});
  EXPECT_EQ(labels_of_launch({{0, 1}, {1, 2}}), crowded);
}

TEST_F(Reports, OfTwoMachinesHaveTheirOwnCpus) {
  result_.machine = {{"labels", Json::array()}};
  for (const auto rank : {0, 1}) {
    auto facts = rank_facts(rank, host_name(), rank == 0 ? boot_id() : "another");
    facts["cpus"] = {0};
    take(fmt::format("rank/{}", rank), facts);
  }
  EXPECT_TRUE(labels_of_machine(result_).empty());
}

}  // namespace
}  // namespace ucxbench
