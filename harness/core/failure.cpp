#include "harness/core/failure.hpp"

#include <algorithm>
#include <array>

#include "harness/core/literal.hpp"

namespace ucxbench {

Exit worse(Exit a, Exit b) {
  constexpr std::array order = {Exit::usage, Exit::interrupted,  Exit::wrong_data, Exit::lost,
                                Exit::gate,  Exit::inconclusive, Exit::cannot_run, Exit::done};
  return *std::min_element(order.begin(), order.end(), [&](Exit x, Exit y) {
    auto rank = [&](Exit e) { return e == a || e == b ? 0 : 1; };
    return rank(x) < rank(y);
  });
}

Exit exit_of(int status) {
  constexpr std::array all = {Exit::done,       Exit::gate, Exit::usage,        Exit::cannot_run,
                              Exit::wrong_data, Exit::lost, Exit::inconclusive, Exit::interrupted};
  const auto* const found = std::ranges::find(all, static_cast<Exit>(status));
  return found == all.end() ? Exit::lost : *found;
}

std::string in_one_line(std::string what) {
  constexpr std::size_t most_bytes = 300;
  if (what.size() > most_bytes) {
    auto end = most_bytes;
    const auto inside_character = [&] {
      return (static_cast<unsigned char>(what[end]) >> 6U) == 2;
    };
    while (end > 0 && inside_character()) --end;
    what = what.substr(0, end) + " …";
  }
  return on_one_line(what);
}

}  // namespace ucxbench
