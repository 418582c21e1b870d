#include "harness/analysis/comparison/halves.hpp"

#include <map>

namespace ucxbench {
namespace {

// Outer ones are A's.
bool is_of(std::size_t side, std::size_t place) {
  const bool outer = place % 4 == 0 || place % 4 == 3;
  return outer == (side == 0);
}

void keep_launches(Case& of, std::size_t side) {
  std::map<int, std::size_t> places;
  for (const auto& record : of.launches) places[record.launch] = 0;
  std::size_t next = 0;
  for (auto& [launch, place] : places) place = next++;
  std::erase_if(of.launches,
                [&](const LaunchRecord& record) { return !is_of(side, places.at(record.launch)); });
}

}  // namespace

std::array<Result, 2> halves_in_turns(const Result& run) {
  std::array halves{run, run};
  for (std::size_t side = 0; side < halves.size(); ++side) {
    auto& half = halves.at(side);
    half.run["ab"] = {{"other", run.run.value("id", Json())}};
    for (auto& of : half.cases) {
      keep_launches(of, side);
      for (auto& [name, metric] : of.metrics) {
        std::vector<double> kept;
        for (std::size_t launch = 0; launch < metric.launch_medians.size(); ++launch) {
          if (is_of(side, launch)) kept.push_back(metric.launch_medians[launch]);
        }
        metric.launch_medians = std::move(kept);
      }
    }
  }
  return halves;
}

}  // namespace ucxbench
