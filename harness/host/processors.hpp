#pragma once

#include <optional>

#include "harness/result/result.hpp"

namespace ucxbench {

/// What two processors are to each other and to their host at this moment, apart from what a
/// benchmark does with them:
/// - how far they are from each other, by a word that both poll: half a round trip between two
///   threads, the median of 100 samples of 100 trips. Of one core's hardware threads it is some 40
///   ns and less, of cores on other dies 200.
/// - how fast they are while both work: 1000 additions of which eight can be done at once, by a
///   thread on each, the median of what the samples of some milliseconds take, the mean of both.
///   Hardware threads of one core take twice as long as two cores, and a core whose other hardware
///   thread somebody else uses takes a third longer.
/// A hypervisor changes both within seconds. Takes about 10 ms, at most about 100; empty where that
/// does not suffice (a processor is busy), for one processor, and for one that may not be used.
std::optional<Processors> look_at_processors(int first, int second);

}  // namespace ucxbench
