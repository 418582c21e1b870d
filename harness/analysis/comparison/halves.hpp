#pragma once

#include <array>

#include "harness/result/result.hpp"

namespace ucxbench {

/// A run's own launches as those of two runs that took turns, A B B A …: nothing but chance and the
/// host makes them differ, so that a change that `compare` sees is a false alarm. They have of a
/// metric what `compare` looks at, its launches' medians.
std::array<Result, 2> halves_in_turns(const Result& run);

}  // namespace ucxbench
