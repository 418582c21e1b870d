#pragma once

#include <cstddef>
#include <functional>

namespace ucxbench {

/// Of 0 to `last`, of which 0 is without a change and `last` has it: the first one that has it,
/// where it stays once it is there. `has_it` is asked of about log2(last) between them.
inline std::size_t first_with(std::size_t last, const std::function<bool(std::size_t)>& has_it) {
  std::size_t without = 0;
  while (last - without > 1) {
    const auto middle = without + (last - without) / 2;
    (has_it(middle) ? last : without) = middle;
  }
  return last;
}

}  // namespace ucxbench
