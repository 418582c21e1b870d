#include "workloads/halo/formula.hpp"

#include <cmath>
#include <numbers>

namespace ucxbench::halo {

double decay(std::uint64_t rows, std::uint64_t columns) {
  const auto neighbours = [](std::uint64_t length) {
    return 2 * std::cos(2 * std::numbers::pi / static_cast<double>(length));
  };
  return (1 + neighbours(rows) + neighbours(columns)) / 5;
}

}  // namespace ucxbench::halo
