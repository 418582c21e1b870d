#include "harness/run/rank_reports.hpp"

#include <gtest/gtest.h>

#include <string>

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

}  // namespace
}  // namespace ucxbench
