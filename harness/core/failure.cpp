#include "harness/core/failure.hpp"

#include <algorithm>
#include <array>

namespace ucxbench {

Exit worse(Exit a, Exit b) {
  constexpr std::array order = {Exit::usage, Exit::interrupted,  Exit::wrong_data, Exit::lost,
                                Exit::gate,  Exit::inconclusive, Exit::cannot_run, Exit::done};
  return *std::min_element(order.begin(), order.end(), [&](Exit x, Exit y) {
    auto rank = [&](Exit e) { return e == a || e == b ? 0 : 1; };
    return rank(x) < rank(y);
  });
}

}  // namespace ucxbench
