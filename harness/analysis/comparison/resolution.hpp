#pragma once

#include <string>

#include "harness/result/result.hpp"

namespace ucxbench {

/// The step, in its unit, in which a run's launch medians of this metric differ; 0 where they are
/// not on a grid. A latency is half of a round trip, and one that takes few steps of the clock is a
/// whole number of half steps, as is every launch's median of such. That shows in the medians
/// themselves: more than half of them are there several times. The step is then half of what the
/// ranks measured of their clocks (`ranks[].clock_step_ns`); of older run files, which lack that,
/// the least distance between such medians. Medians of means over many round trips are not on a
/// grid.
double step_of(const Result& run, const Case& of, const std::string& metric);

}  // namespace ucxbench
