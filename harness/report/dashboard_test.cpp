#include "harness/report/dashboard.hpp"

#include <gtest/gtest.h>

#include "harness/core/folder_for_test.hpp"
#include "harness/report/dashboard_page.hpp"
#include "harness/report/dashboard_rows.hpp"
#include "harness/report/sample.hpp"

namespace ucxbench {
namespace {

const std::vector<double> steady = {10, 10.1, 9.9, 10.05, 9.95, 10.02, 9.98, 10.03, 10.01, 9.97};

std::string shape(const SeriesChange& series, std::vector<double> medians,
                  const std::vector<double>& more = {}) {
  medians.insert(medians.end(), more.begin(), more.end());
  return shape_of(&series, medians).first;
}

TEST(Dashboards, SayWhatLaunchesLookLike) {
  EXPECT_EQ(shape({}, steady), "steady");
  EXPECT_EQ(shape({}, std::vector<double>(10, 10)), "steady");
  SeriesChange drifting, bimodal;
  drifting.new_drift = -0.04;
  bimodal.new_modes = Modes{.low = 10, .high = 12, .share_high = 0.4};
  EXPECT_EQ(shape(drifting, steady), "drifting");
  EXPECT_EQ(shape(bimodal, steady), "bimodal");
  EXPECT_EQ(shape({}, steady, {14}), "outliers");
  EXPECT_EQ(shape({}, {10, 11}), "?");
  EXPECT_EQ(shape_of(nullptr, steady).first, "?");
}

TEST(Dashboards, LinkToFilesByTheirWay) {
  EXPECT_EQ(link_to("/a/runs/x.json", "/a/page.html"), "./runs/x.json");
  EXPECT_EQ(link_to("/a/runs/x.json", "/a/b/page.html"), "./../runs/x.json");
  EXPECT_EQ(link_to("/a/javascript:x y#?.json", "/a/page.html"), "./javascript%3Ax%20y%23%3F.json");
}

class FoldersOfRuns : public FolderLikeSys {};

TEST_F(FoldersOfRuns, AreOneDocument) {
  auto run = sample_result();
  for (const char* day : {"2025-01-01", "2025-01-02"}) {
    run.run["id"] = day;
    run.run["started_utc"] = std::string(day) + "T00:00:00Z";
    run.run["finished_utc"] = std::string(day) + "T00:01:00Z";
    write(std::string(day) + ".json", run_text(run));
  }
  Dashboard dashboard(root_, "");
  const auto document = dashboard.document(root_ / "page.html");
  ASSERT_EQ(document.at("streams").size(), 1U);
  const auto& stream = document.at("streams")[0];
  EXPECT_EQ(stream.at("base").at("id"), "2025-01-01");
  EXPECT_EQ(stream.at("new").at("href"), "./2025-01-02.json");
  EXPECT_EQ(document.at("data").at("lines").size(), document.at("lines").get<std::size_t>());
  EXPECT_EQ(document.at("problems").size(), 0U) << document.at("problems");
  EXPECT_FALSE(stream.at("rows").empty());
  dashboard.write_otava(root_ / "otava");
  EXPECT_NE(text_of(root_ / "otava/otava.yaml").find("\"test_groups\""), std::string::npos);
  EXPECT_TRUE(std::filesystem::exists(root_ / RunTree::index_name));
}

// Whatever the cases say that it had measured before.
TEST_F(FoldersOfRuns, WhoseNewestFailedSayThatFirst) {
  auto run = sample_result();
  for (const char* day : {"2025-01-01", "2025-01-02"}) {
    run.run["id"] = day;
    run.run["started_utc"] = std::string(day) + "T00:00:00Z";
    run.run["finished_utc"] = std::string(day) + "T00:01:00Z";
    if (std::string_view(day) == "2025-01-02") {
      run.run["state"] = "failed";
      run.run["reason"] = "rank 1 was killed";
    }
    write(std::string(day) + ".json", run_text(run));
  }
  Dashboard dashboard(root_, "");
  const auto document = dashboard.document(root_ / "page.html");
  const std::string lost = "the new run failed: rank 1 was killed";
  EXPECT_TRUE(document.at("headline").get<std::string>().starts_with(lost))
      << document.at("headline");
  EXPECT_EQ(document.at("worst"), "failed");
  EXPECT_EQ(document.at("nothing_decided"), "");
  EXPECT_EQ(document.at("streams")[0].at("to_do"), "Find out why: " + lost + ".");
}

TEST_F(FoldersOfRuns, ThatAreNoneAreRefused) {
  EXPECT_THROW(Dashboard(root_, ""), Failure);
  EXPECT_THROW(Dashboard(root_ / "nowhere", ""), Failure);
  write("run.json", run_text(sample_result()));
  EXPECT_THROW(Dashboard(root_, root_ / "nowhere.json"), Failure);
}

}  // namespace
}  // namespace ucxbench
