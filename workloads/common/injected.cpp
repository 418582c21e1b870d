#include "workloads/common/injected.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "harness/core/failure.hpp"
#include "harness/core/text.hpp"

namespace ucxbench {
namespace {

constexpr std::array<std::pair<Injected, std::string_view>, 4> names = {
    {{Injected::nothing, ""},
     {Injected::corrupt, "corrupt"},
     {Injected::drop, "drop"},
     {Injected::misroute, "misroute"}}};

}  // namespace

Injected parse_injected(std::string_view name) {
  for (const auto& [injected, known] : names) {
    if (name == known) return injected;
  }
  throw Failure(Exit::usage,
                "--inject: " + unknown_name("mistake", name, {"corrupt", "drop", "misroute"}));
}

std::string_view to_string(Injected injected) {
  return std::ranges::find(names, injected, &decltype(names)::value_type::first)->second;
}

}  // namespace ucxbench
