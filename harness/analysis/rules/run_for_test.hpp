#pragma once

// For tests: made runs, each with just what a rule looks at.

#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

#include "harness/analysis/rules/rules.hpp"
#include "harness/result/older_runs.hpp"

namespace ucxbench {

inline Result made_run() {
  Result result;
  result.run = {{"state", "complete"}};
  result.machine = {{"labels", {"synthetic"}},
                    {"hosts", Json::array({{{"name", "node07"}, {"hardware_threads", 80}}})}};
  return result;
}

inline void add_rank(Result& result, const Json& cpus, const Json& gpu = nullptr,
                     const std::string& net_devices = "") {
  Json device;
  if (!gpu.is_null()) device = {{"index", gpu}, {"pci", nullptr}};
  result.ranks.push_back({{"rank", result.ranks.size()},
                          {"host", "node07"},
                          {"cpus", cpus},
                          {"device", device},
                          {"net_devices", net_devices}});
}

/// A measured case of a ping-pong, without launches.
inline Case made_case(std::uint64_t bytes, const std::vector<std::string>& transports,
                      const std::string& memory = "host") {
  Case of{.key = "pingpong/tag/" + std::to_string(bytes),
          .benchmark = "pingpong",
          .parameters = {{"api", "tag"},
                         {"bytes", bytes},
                         {"memory", {memory, memory}},
                         {"transports", transports}},
          .state = CaseState::measured,
          .metrics = {{"latency_us", {.better = "lower"}}}};
  of.shows = shows_of_older(of);
  return of;
}

/// One launch between two ranks, all of it carried by one member.
inline LaunchRecord made_record(int src, int dst, const std::string& carrier,
                                const std::vector<std::string>& lanes) {
  return {.src = src,
          .dst = dst,
          .lanes = lanes,
          .path = {{"carried_by", {{carrier, 1.0}}}, {"payload_bytes", 1000}}};
}

/// Lines of a terminal that a finding takes.
inline std::size_t lines_of(const std::string& text) {
  constexpr std::size_t width = 100 - 9;  // beside the severity
  std::size_t lines = 1;
  std::size_t used = 0;
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    const bool fits = used == 0 || used + 1 + word.size() <= width;
    if (!fits) ++lines;
    used = fits && used > 0 ? used + 1 + word.size() : word.size();
  }
  return lines;
}

/// The same run on a host of a long name.
inline Result with_a_long_name(Result result) {
  const auto renamed = [](const Json& of) {
    auto text = of.dump();
    for (std::size_t at = 0; (at = text.find("node07", at)) != std::string::npos; ++at) {
      text.replace(at, 6, "gpu-node-0107.example.org");
    }
    return Json::parse(text);
  };
  result.machine = renamed(result.machine);
  result.ranks = renamed(result.ranks);
  return result;
}

/// Each finding of the rule takes at most two lines, as reports show it.
inline void expect_short(std::vector<Finding> (*rule)(const Judged&), const Result& result) {
  const auto of = std::ranges::find(rules(), rule, &Rule::check);
  ASSERT_NE(of, rules().end());
  for (const auto& [subject, evidence, next, cost_ms, host, uses, device] :
       said_by(*of, Judged(result))) {
    const auto text = subject + ": " + evidence + (cost_ms ? "; costs 12.3 us" : "") + " -> " +
                      next + " [" + std::string(of->id) + "]";
    EXPECT_LE(lines_of(text), 2U) << text;
  }
}

/// What one rule says of a run, as lines "subject: evidence".
inline std::vector<std::string> said(std::vector<Finding> (*rule)(const Judged&),
                                     const Result& result) {
  expect_short(rule, with_a_long_name(result));
  std::vector<std::string> lines;
  const auto of = std::ranges::find(rules(), rule, &Rule::check);
  for (const auto& finding : said_by(*of, Judged(result))) {
    EXPECT_FALSE(finding.next.empty());
    lines.push_back(finding.subject + ": " + finding.evidence);
  }
  return lines;
}

using Said = std::vector<std::string>;

}  // namespace ucxbench
