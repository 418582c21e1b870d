// What did not pass is no figure: no format shows one of it, whatever an older file has.

#include <gtest/gtest.h>

#include "harness/report/report.hpp"
#include "harness/report/report_for_test.hpp"
#include "harness/report/sample.hpp"
#include "harness/result/flaws.hpp"

namespace ucxbench {
namespace {

constexpr double planted = 4321.5;

void plant(std::optional<double>& value) {
  if (value) value = planted;
}

/// All figures of a case become one that stands nowhere else.
void plant_figures(Case& of) {
  const auto plant_in = [](Quantiles& q) {
    for (auto* value : {&q.min, &q.p50, &q.p90, &q.p99, &q.p999, &q.max}) plant(*value);
  };
  for (auto& [name, metric] : of.metrics) {
    plant_in(metric.quantiles);
    metric.launch_medians.assign(metric.launch_medians.size(), planted);
    metric.ci95 = {planted, planted};
  }
  for (auto& record : of.launches) {
    for (auto& [name, samples] : record.samples) {
      plant_in(samples.quantiles);
      samples.values.assign(samples.values.size(), planted);
    }
    for (auto* value :
         {&record.cold.context_us, &record.cold.connect_us, &record.cold.first_message_us}) {
      plant(*value);
    }
  }
}

/// As the file of a version that kept them: its first case has figures, and failed.
Result older_file(Result result, Flaw flaw) {
  auto& of = result.cases.front();
  plant_figures(of);
  auto json = to_json(result);
  auto& written = json.at("cases").at(0);
  if (flaw == Flaw::wrong_data) written["verified"]["errors"] = written["verified"]["checked"];
  if (flaw == Flaw::failed) written["state"] = "failed";
  auto run = parse_result(json.dump(), "run.json");
  run.run["check"] = {{"file", "site.toml"}, {"verdict", "missed"}, {"limits", Json::array()}};
  return as_read(std::move(run));
}

/// Launches are what was seen, and stay in a run file and in CSV, whose rows say the state.
bool shows_figures(const std::string& format, const std::string& text) {
  const auto has_it = [](const std::string& of) {
    return contains(of, "4321") || contains(of, "4.32k");
  };
  if (format == "csv") {
    return std::ranges::any_of(lines_of(text), [&](const std::string& line) {
      return has_it(line) && !contains(line, ",failed,");
    });
  }
  if (format == "json") {
    auto json = Json::parse(text);
    for (auto& of : json.at("cases")) of.erase("launches");
    return has_it(json.dump());
  }
  return has_it(text);
}

TEST(FailedCasesShow, NoFigureInAnyFormat) {
  for (const auto& sample : {sample_result(), sample_of_pairs(), sample_of_workload()}) {
    for (const auto flaw : {Flaw::wrong_data, Flaw::failed}) {
      const auto run = older_file(sample, flaw);
      ASSERT_EQ(flaw_of(run.cases.front()), flaw);
      for (const auto& [name, format] : formats()) {
        if (name == "trace" || name == "transfers") continue;  // of single messages
        EXPECT_FALSE(shows_figures(name, render(name, run))) << name << "\n" << render(name, run);
      }
    }
  }
}

/// By what its message begins with, the ways in which a case has no figure that counts.
const std::vector<std::pair<std::string, void (*)(Case&)>> ways_to_be_none = {
    {"impossible, ",
     [](Case& of) {
       for (auto& record : of.launches) {
         for (auto& [name, samples] : record.samples) samples.quantiles.min = -1;
       }
     }},
    {"impossible, ",
     [](Case& of) {
       of.launches.front().samples.begin()->second.quantiles.min = -1;
       of.labels = {"interrupted"};
     }},
    {"ranks take turns on one GPU", [](Case& of) { of.labels = {"same-gpu", "time-sliced"}; }},
};

// What follows a case over time would take the figure for the best of all.
TEST(FailedCasesShow, NoFigureThatIsNoneToWhatFollowsIt) {
  for (const auto& [why, spoil] : ways_to_be_none) {
    auto run = sample_result();
    auto& of = run.cases.front();
    plant_figures(of);
    spoil(of);
    const auto read = as_read(run);
    for (const auto& [name, format] : formats()) {
      if (name != "gbench" && name != "bencher" && !name.ends_with("-is-better")) continue;
      EXPECT_FALSE(shows_figures(name, render(name, read))) << name << "\n" << render(name, read);
    }
    EXPECT_TRUE(contains(render("gbench", read), R"("error_message": ")" + why)) << why;
  }
}

TEST(FailedCasesShow, ThatTheyFailed) {
  const auto run = older_file(sample_result(), Flaw::wrong_data);
  for (const auto& [name, format] : formats()) {
    // These formats have a place for figures alone.
    const bool of_figures =
        name == "bencher" || name.ends_with("-is-better") || name == "trace" || name == "transfers";
    EXPECT_TRUE(of_figures || contains(render(name, run), "failed")) << name;
  }
  EXPECT_TRUE(contains(render("table", run), "quality         failed: "));
  const auto rows = Json::parse(render("gbench", run)).at("benchmarks");
  const auto failed = std::ranges::find_if(
      rows, [&](const Json& row) { return row.at("name") == run.cases.front().key; });
  ASSERT_NE(failed, rows.end());
  EXPECT_EQ(failed->at("error_occurred"), true);
  EXPECT_TRUE(contains(failed->at("error_message").get<std::string>(), "wrong data"));
  EXPECT_FALSE(failed->contains("real_time"));
}

}  // namespace
}  // namespace ucxbench
