#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "bench/pingpong/crew.hpp"
#include "bench/pingpong/loops.hpp"
#include "harness/core/clock.hpp"

namespace ucxbench::pingpong {

/// Of a buffer of `room` bytes, what each thread has of it: whole pages, so that no two threads
/// write to one cache line. The first thread's is at the beginning.
constexpr std::size_t page_of_threads = 4096;
constexpr std::size_t part_of_thread(std::size_t room, int threads) {
  return threads == 1
             ? room
             : room / static_cast<std::size_t>(threads) / page_of_threads * page_of_threads;
}
/// Room for `bytes` of each.
constexpr std::size_t room_of_threads(std::size_t bytes, int threads) {
  return threads == 1 ? bytes
                      : static_cast<std::size_t>(threads) *
                            ((bytes + page_of_threads - 1) / page_of_threads * page_of_threads);
}

/// Loops of which each thread of the crew runs one, all at the same time; outside of the timed
/// regions the calling thread serves them one after the other. `one_worker`: progress of one is
/// progress of all.
///
/// Counts are of each thread. Times are from when the first began to when the last ended, so that a
/// rate over all threads never adds up what did not happen at the same time. There are stamps of
/// each thread, `count + 1` of the first, then of the next, and so on.
std::unique_ptr<Loops> make_threaded_loops(std::shared_ptr<Crew> crew,
                                           std::vector<std::unique_ptr<Loops>> loops,
                                           bool one_worker);

/// What all threads did while none of them was alone: the ticks of the iterations that began after
/// every thread had begun and ended before any of them had ended. `stamps` as above.
std::vector<std::uint64_t> overlapping_iterations(std::span<const std::uint64_t> stamps,
                                                  int threads);

}  // namespace ucxbench::pingpong
