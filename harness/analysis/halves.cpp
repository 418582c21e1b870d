#include "harness/analysis/halves.hpp"

namespace ucxbench {

std::array<Result, 2> halves_in_turns(const Result& run) {
  std::array halves{run, run};
  for (std::size_t side = 0; side < halves.size(); ++side) {
    auto& half = halves.at(side);
    half.run["ab"] = {{"other", run.run.value("id", Json())}};
    for (auto& of : half.cases) {
      for (auto& [name, metric] : of.metrics) {
        std::vector<double> kept;
        for (std::size_t launch = 0; launch < metric.launch_medians.size(); ++launch) {
          const bool outer = launch % 4 == 0 || launch % 4 == 3;
          if (outer == (side == 0)) kept.push_back(metric.launch_medians[launch]);
        }
        metric.launch_medians = std::move(kept);
      }
    }
  }
  return halves;
}

}  // namespace ucxbench
