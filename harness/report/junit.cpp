#include "harness/report/junit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "harness/core/names.hpp"
#include "harness/report/check_view.hpp"
#include "harness/report/facts.hpp"
#include "harness/report/report.hpp"
#include "harness/result/words.hpp"

namespace ucxbench {
namespace {

/// Without its time zone, which is UTC: older schemas of the format know none.
std::string timestamp_of(const Result& result) {
  return text_at(result.run, "/started_utc", "").substr(0, 19);
}

/// The whole run; what one test case of it took is not known.
double took_s(const Result& result) {
  const auto began = seconds_at(result.run, "/started_utc");
  const auto ended = seconds_at(result.run, "/finished_utc");
  return began && ended ? *ended - *began : 0;
}

constexpr Names<JunitOutcome, 4> outcomes = {{{JunitOutcome::passed, ""},
                                              {JunitOutcome::failure, "failure"},
                                              {JunitOutcome::error, "error"},
                                              {JunitOutcome::skipped, "skipped"}}};

std::string test_case(const JunitCase& of) {
  const auto head = fmt::format(R"(    <testcase classname="{}" name="{}" time="0")",
                                for_xml(of.classname), for_xml(of.name));
  std::string inner;
  if (of.outcome != JunitOutcome::passed) {
    inner = fmt::format("      <{0} type=\"{1}\" message=\"{2}\">{2}</{0}>\n",
                        name_of(outcomes, of.outcome), for_xml(of.type), for_xml(of.message));
  }
  if (!of.output.empty()) {
    inner += fmt::format("      <system-out>{}</system-out>\n", for_xml(of.output));
  }
  return inner.empty() ? head + "/>\n" : head + ">\n" + inner + "    </testcase>\n";
}

JunitCase case_of_limit(const Json& limit, const std::string& first_host) {
  const auto verdict = text_at(limit, "/verdict");
  const auto host = text_at(limit, "/host", first_host);
  const auto peer = text_at(limit, "/peer", "");
  JunitCase of{.classname = peer.empty() ? host : host + "->" + peer,
               .name = fmt::format("{}: {} {} ({})", limit_subject(limit), text_at(limit, "/limit"),
                                   text_at(limit, "/expected", "known"), text_at(limit, "/place"))};
  if (verdict == "met") return of;
  // What nobody could tell is an error of the check, and as little a pass.
  of.outcome = verdict == "missed" ? JunitOutcome::failure : JunitOutcome::error;
  of.type = verdict;
  of.message = limit_in_words(limit);
  return of;
}

std::string render_junit(const Result& result, const RenderOptions&) {
  const auto& check = check_of(result, "junit");
  JunitSuite suite{.program = "ucx-bench check", .name = text_at(check, "/file")};
  const auto host = text_at(result.machine, "/hosts/0/name", "?");
  for (const auto& limit : check.value("limits", Json::array())) {
    suite.cases.push_back(case_of_limit(limit, host));
  }
  suite.properties = {{"run", text_at(result.run, "/id", "")}};
  std::ranges::move(facts_of_run(result), std::back_inserter(suite.properties));
  for (const auto& outlier : outliers_in_words(result)) suite.output += "slow: " + outlier + "\n";
  for (const auto& [who, line] : ucx_warnings_in_words(result)) {
    suite.output += fmt::format("{}: {}\n", who, line);
  }
  return junit_text(suite, result);
}

const RegisterFormat junit_format({"junit", "JUnit XML of a check, for Jenkins and GitLab",
                                   render_junit});

}  // namespace

std::string junit_text(const JunitSuite& suite, const Result& run) {
  const auto count = [&](JunitOutcome outcome) {
    return std::ranges::count(suite.cases, outcome, &JunitCase::outcome);
  };
  const auto counts =
      fmt::format(R"(tests="{}" failures="{}" errors="{}" time="{:.0f}")", suite.cases.size(),
                  count(JunitOutcome::failure), count(JunitOutcome::error), took_s(run));
  std::string properties;
  for (const auto& [name, value] : suite.properties) {
    properties += fmt::format("      <property name=\"{}\" value=\"{}\"/>\n", name, for_xml(value));
  }
  std::string cases;
  for (const auto& of : suite.cases) cases += test_case(of);
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
      "<testsuites name=\"{7}\" {0}>\n"
      "  <testsuite name=\"{1}\" package=\"ucx-bench\" id=\"0\" hostname=\"{2}\" "
      "timestamp=\"{3}\" {0}>\n"
      "    <properties>\n"
      "{4}"
      "    </properties>\n"
      "{5}"
      "    <system-out>{6}</system-out>\n"
      "    <system-err/>\n"
      "  </testsuite>\n"
      "</testsuites>\n",
      counts, for_xml(suite.name), for_xml(text_at(run.machine, "/hosts/0/name", "?")),
      timestamp_of(run), properties, cases, for_xml(suite.output), for_xml(suite.program));
}

}  // namespace ucxbench
