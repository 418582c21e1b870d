// JUnit's XML, as Jenkins and GitLab read it: a test case for each limit of a check.

#include <fmt/format.h>

#include <string>

#include "harness/report/check_view.hpp"
#include "harness/report/facts.hpp"
#include "harness/report/report.hpp"
#include "harness/result/words.hpp"

namespace ucxbench {
namespace {

/// As the value of an attribute, or as text: what XML 1.0 does not allow is left out.
std::string for_xml(const std::string& text) {
  // As in a run file: bytes that are not UTF-8 are replaced.
  const auto valid = Json::parse(Json(text).dump(-1, ' ', false, Json::error_handler_t::replace))
                         .get<std::string>();
  std::string escaped;
  for (const char c : valid) {
    switch (c) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      default:
        if (static_cast<unsigned char>(c) >= ' ') escaped += c;
    }
  }
  return escaped;
}

/// Without its time zone, which is UTC: older schemas of the format know none.
std::string timestamp_of(const Result& result) {
  return text_at(result.run, "/started_utc", "").substr(0, 19);
}

/// The whole check; what one limit of it took is not known.
double took_s(const Result& result) {
  const auto began = seconds_at(result.run, "/started_utc");
  const auto ended = seconds_at(result.run, "/finished_utc");
  return began && ended ? *ended - *began : 0;
}

std::string test_case(const Json& limit, const std::string& first_host) {
  const auto verdict = text_at(limit, "/verdict");
  const auto host = text_at(limit, "/host", first_host);
  const auto peer = text_at(limit, "/peer", "");
  const auto head = fmt::format(
      R"(    <testcase classname="{}" name="{}" time="0")",
      for_xml(peer.empty() ? host : host + "->" + peer),
      for_xml(fmt::format("{}: {} {} ({})", limit_subject(limit), text_at(limit, "/limit"),
                          text_at(limit, "/expected"), text_at(limit, "/place"))));
  if (verdict == "met") return head + "/>\n";
  // What nobody could tell is an error of the check, and as little a pass.
  return fmt::format("{0}>\n      <{1} type=\"{2}\" message=\"{3}\">{3}</{1}>\n    </testcase>\n",
                     head, verdict == "missed" ? "failure" : "error", for_xml(verdict),
                     for_xml(limit_in_words(limit)));
}

std::string render_junit(const Result& result, const RenderOptions&) {
  const auto& check = check_of(result, "junit");
  const auto host = text_at(result.machine, "/hosts/0/name", "?");
  int failures = 0;
  int errors = 0;
  std::string cases;
  const auto limits = check.value("limits", Json::array());
  for (const auto& limit : limits) {
    const auto verdict = text_at(limit, "/verdict");
    failures += verdict == "missed" ? 1 : 0;
    errors += verdict != "missed" && verdict != "met" ? 1 : 0;
    cases += test_case(limit, host);
  }
  const auto counts = fmt::format(R"(tests="{}" failures="{}" errors="{}" time="{:.0f}")",
                                  limits.size(), failures, errors, took_s(result));
  auto properties = fmt::format("      <property name=\"run\" value=\"{}\"/>\n",
                                for_xml(text_at(result.run, "/id", "")));
  for (const auto& [name, value] : facts_of_run(result)) {
    properties += fmt::format("      <property name=\"{}\" value=\"{}\"/>\n", name, for_xml(value));
  }
  std::string slow;
  for (const auto& outlier : outliers_in_words(result)) slow += for_xml("slow: " + outlier) + "\n";
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
      "<testsuites name=\"ucx-bench check\" {0}>\n"
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
      counts, for_xml(text_at(check, "/file")), for_xml(host), timestamp_of(result), properties,
      cases, slow);
}

const RegisterFormat junit_format({"junit", "JUnit XML of a check, for Jenkins and GitLab",
                                   render_junit});

}  // namespace
}  // namespace ucxbench
