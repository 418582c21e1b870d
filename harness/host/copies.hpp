#pragma once

#include <cstddef>
#include <vector>

#include "harness/result/result.hpp"

namespace ucxbench {

/// Seconds of one memcpy of `bytes`.
double timed_copy(const std::byte* from, std::byte* into, std::size_t bytes);

/// How fast this host copies its memory without UCX, for `machine.hosts[].memory_copy`, as
/// {"one_core", "all_cores"}, each with {"cpus", "bytes", "copy_GBps", "by_size"}: on the first of
/// `cpus`, and on all at once, a thread pinned to each with two buffers of `bytes` of its own:
/// 64 MiB, and of all at once 128 MiB by their number, but at least 8 MiB. `by_size` has the same
/// of smaller buffers, [{"bytes", "copy_GBps"}, ...], ascending from 8 KiB to 8 MiB, which are
/// copied again and again, so that caches keep what they can hold.
///
/// `between_cores` is a list of the same by pairs of CPUs, {"cpus": [writer, reader], "by_size"},
/// for the first six of them: the reader copies what the writer has just written, so that the bytes
/// come out of the other core's caches, as a message's do. The best copy within 4 ms of each size
/// counts. A pair of one CPU has none; null where a thread may not run on its CPU.
///
/// GB/s is the best of up to four rounds, of which none begins later than 0.05 s (of smaller
/// buffers 0.004 s) after the first: all bytes copied in it by all (each is read once and written
/// once) over the time from the first thread's begin to the last one's end; null where memory or
/// threads do not suffice. `cpus` has one or more.
Json measure_copies(const std::vector<int>& cpus);

/// Of two such measurements of the same CPUs the faster one, on one core and on all, of each size:
/// what else runs on a host can only hold a copy up. `known` may be null.
Json faster_copies(const Json& known, const Json& measured);

}  // namespace ucxbench
