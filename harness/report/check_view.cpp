#include "harness/report/check_view.hpp"

#include <fmt/format.h>

#include <cmath>
#include <ctime>

#include "harness/core/failure.hpp"
#include "harness/result/words.hpp"

namespace ucxbench {
namespace {

/// Of the limit: "+24 %", "5.7e+06 x", or "under 1 % of it".
std::string margin_in_words(double ratio) {
  if (ratio > 0 && ratio < 0.01) return "under 1 % of it";
  return ratio > 2 ? fmt::format("{:.3g} x", ratio) : fmt::format("{:+.0f} %", 100 * (ratio - 1));
}

/// "0->1", between hosts "0->1 (node0->node1)", of one of several hosts "0->1 (node0)".
std::string pair_in_words(const Json& limit) {
  const auto pair = fmt::format("{}->{}", text_at(limit, "/src"), text_at(limit, "/dst"));
  const auto host = text_at(limit, "/host", "");
  const auto peer = text_at(limit, "/peer", "");
  if (host.empty()) return pair;
  return fmt::format("{} ({}{})", pair, host, peer.empty() ? "" : "->" + peer);
}

std::string measured_in_words(const Json& limit) {
  const auto name = text_at(limit, "/limit");
  const auto measured = number_at(limit, "measured");
  if (name == "node") return text_at(limit, "/why");
  if (!measured) {
    const bool of_pair = number_at(limit, "src").has_value();
    return of_pair ? fmt::format("{}, pair {}", name, pair_in_words(limit)) : name;
  }
  if (name == "path") {
    return fmt::format("{:.0f} % over {}, {}", std::floor(100 * *measured),
                       text_at(limit, "/expected"), pair_in_words(limit));
  }
  const bool rate = name == "min_GBps";
  const auto expected = number_at(limit, "expected").value_or(0);
  return fmt::format("{} {}, limit {} {:g} ({}), slowest pair {}", significant(measured, 3),
                     rate ? "GB/s" : "us", rate ? ">=" : "<=", expected,
                     margin_in_words(*measured / expected), pair_in_words(limit));
}

}  // namespace

std::string limit_subject(const Json& limit) {
  if (text_at(limit, "/limit") == "node") return "this node";
  const auto path_class = text_at(limit, "/class", "");
  return fmt::format("{}, {}{}", text_at(limit, "/transports"), text_at(limit, "/memory"),
                     path_class.empty() ? "" : ", " + path_class);
}

std::string limit_in_words(const Json& limit) {
  auto text = measured_in_words(limit);
  const auto why = text_at(limit, "/why", "");
  if (!why.empty() && why != text) text += ": " + why;
  if (text_at(limit, "/verdict") != "met") text += fmt::format(" [{}]", text_at(limit, "/place"));
  return text;
}

std::vector<std::pair<std::string, std::string>> verdicts_in_words(const Result& result) {
  const auto found = result.run.find("check");
  if (found == result.run.end() || !found->is_object()) return {};
  const auto pass_if = [](bool met) { return std::string(met ? "PASS" : "FAIL"); };
  std::vector<std::pair<std::string, std::string>> all;
  std::size_t met = 0;
  for (const auto& limit : found->value("limits", Json::array())) {
    const bool is_met = text_at(limit, "/verdict") == "met";
    met += is_met ? 1 : 0;
    all.emplace_back(pass_if(is_met), limit_subject(limit) + ": " + limit_in_words(limit));
  }
  const auto text =
      fmt::format("{} of {} limits of {} met", met, all.size(), text_at(*found, "/file"));
  all.insert(all.begin(), {pass_if(text_at(*found, "/verdict") == "met"), text});
  return all;
}

std::vector<std::string> outliers_in_words(const Result& result) {
  std::vector<std::string> all;
  for (const auto& finding : result.findings) {
    const auto id = text_at(finding, "/id");
    if (id == "slow-host" || id == "slow-link") all.push_back(text_at(finding, "/evidence"));
  }
  return all;
}

std::vector<std::pair<std::string, std::string>> ucx_warnings_in_words(const Result& result) {
  std::vector<std::pair<std::string, std::string>> all;
  for (const auto& finding : result.findings) {
    if (text_at(finding, "/id") != "ucx-warnings") continue;
    all.emplace_back(text_at(finding, "/subject"), text_at(finding, "/evidence"));
  }
  return all;
}

std::optional<double> seconds_at(const Json& json, const std::string& pointer) {
  std::tm time{};
  if (::strptime(text_at(json, pointer, "").c_str(), "%Y-%m-%dT%H:%M:%SZ", &time) == nullptr) {
    return std::nullopt;
  }
  return static_cast<double>(::timegm(&time));
}

const Json& check_of(const Result& result, const std::string& format) {
  const auto found = result.run.find("check");
  if (found != result.run.end() && found->is_object()) return *found;
  throw Failure(Exit::usage, fmt::format("--{}: this run has no limits: it is not of `ucx-bench "
                                         "check --expect`",
                                         format));
}

}  // namespace ucxbench
