#pragma once

// For tests: made runs, each with just what a rule looks at.

#include <gtest/gtest.h>

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

/// What one rule says of a run, as lines "subject: evidence".
inline std::vector<std::string> said(std::vector<Finding> (*rule)(const Judged&),
                                     const Result& result) {
  std::vector<std::string> lines;
  for (const auto& finding : rule(Judged(result))) {
    EXPECT_FALSE(finding.next.empty());
    lines.push_back(finding.subject + ": " + finding.evidence);
  }
  return lines;
}

using Said = std::vector<std::string>;

}  // namespace ucxbench
