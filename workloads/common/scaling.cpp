#include "workloads/common/scaling.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "harness/core/failure.hpp"
#include "harness/core/text.hpp"

namespace ucxbench {
namespace {

constexpr std::array<std::pair<Scaling, std::string_view>, 3> names = {
    {{Scaling::unsaid, ""}, {Scaling::weak, "weak"}, {Scaling::strong, "strong"}}};

}  // namespace

Scaling parse_scaling(std::string_view name) {
  for (const auto& [scaling, known] : names) {
    if (name == known) return scaling;
  }
  throw Failure(Exit::usage, "--scaling: " + unknown_name("scaling", name, {"weak", "strong"}));
}

std::string_view to_string(Scaling scaling) {
  return std::ranges::find(names, scaling, &decltype(names)::value_type::first)->second;
}

}  // namespace ucxbench
