#include "bench/cli/plan/tune_cases.hpp"

#include <fmt/format.h>

#include "bench/cli/plan/plan_of_args.hpp"
#include "harness/core/failure.hpp"
#include "harness/core/json.hpp"
#include "harness/run/benchmark.hpp"

namespace ucxbench {

bool has_cold_buffers(const Plan& plan, const std::string& args) {
  if (find_benchmark(plan.benchmark)->parameters.find("buffers") == nullptr) return false;
  if (args.find("--buffers") != std::string::npos) return false;  // as it was asked for
  try {
    const auto cold = plan_of_args(args + with_cold_buffers, 1);
    for (const auto& memory : cold.memory) {
      for (const auto comm : cold.comms) {
        const auto set = cold.sets.empty() ? TransportSet::parse("auto") : cold.sets.front();
        const auto place = case_place(set, memory, cold.ranks.front(), "", comm);
        cold.cases(place, place.ranks);
      }
    }
  } catch (const Failure&) {
    return false;
  }
  return true;
}

std::string suite_text(const std::vector<std::string>& cases, int launches,
                       std::optional<std::chrono::milliseconds> time_of_case) {
  auto text = fmt::format("launches = {}\n", launches);
  for (const auto& args : cases) {
    const bool is_limited = time_of_case && &args == &cases.front();
    const auto time =
        is_limited ? fmt::format(" --max-time {}ms", (*time_of_case * launches).count()) : "";
    text += fmt::format("[[case]]\nargs = {}\n", Json(args + time).dump());
  }
  return text;
}

}  // namespace ucxbench
