#pragma once

#include <cmath>
#include <cstddef>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "harness/result/older_runs.hpp"
#include "harness/result/result.hpp"

namespace ucxbench {

constexpr int all_launches = 24;

/// A row: its change, the standard deviation of its duets' logarithms, and how many there are.
struct Kind {
  double change;
  double noise;
  int duets = all_launches;
};

using TwoResults = std::pair<Result, Result>;

inline Case made_side(std::size_t number, const Kind& row, bool is_new, std::mt19937& random) {
  Case of;
  of.key = "pingpong/tag/host-host/tcp/" + std::to_string(number) + "B";
  of.state = CaseState::measured;
  std::normal_distribution<double> spread(0, row.noise);
  for (int launch = 0; launch < row.duets; ++launch) {
    LaunchRecord record{.launch = launch};
    record.duet = {.id = "0123456789abcdef", .first = "base"};
    const auto value = 10 * std::exp(is_new ? std::log1p(row.change) + spread(random) : 0);
    record.duet->blocks["latency_us"] = {.quads = "A", .iterations = 1, .values = {value, value}};
    record.samples["latency_us"] = {
        .quantiles = {.count = 1, .p50 = value}, .seen = 1, .values = {value}};
    of.launches.push_back(record);
  }
  summarize(of);
  of.shows = shows_of_older(of);
  return of;
}

/// Two runs of one `ab`.
inline TwoResults runs_of_duets(const std::vector<Kind>& rows, const std::vector<int>& looks,
                                int planned = 0) {
  std::mt19937 random(1);
  TwoResults both;
  for (const bool is_new : {false, true}) {
    auto& result = is_new ? both.second : both.first;
    result.machine = {{"id", "box"}, {"hosts", {{{"kernel", "6.1"}}}}};
    result.run = {{"id", is_new ? "new" : "base"},
                  {"ab", {{"other", is_new ? "base" : "new"}, {"looks", looks}}}};
    if (planned != 0) result.run["ab"]["planned"] = planned;
    for (std::size_t row = 0; row < rows.size(); ++row) {
      result.cases.push_back(made_side(row, rows[row], is_new, random));
    }
  }
  return both;
}

}  // namespace ucxbench
