#include "harness/launch/open_files.hpp"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "harness/core/failure.hpp"

namespace ucxbench {

std::uint64_t open_files_needed(int ranks, int peers) {
  // Seen with UCX 1.13: 13 and one for each peer over TCP, two while they connect; none for one in
  // shared memory. GPUs and NICs take more.
  constexpr std::uint64_t others = 64;
  constexpr std::uint64_t of_a_rank = 2;  // its control connection and what it prints
  constexpr std::uint64_t of_a_peer = 2;
  return others + std::max(of_a_rank * static_cast<std::uint64_t>(ranks),
                           of_a_peer * static_cast<std::uint64_t>(peers));
}

void allow_open_files(int ranks, int peers) {
  const auto needed = open_files_needed(ranks, peers);
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= needed) return;
  if (limit.rlim_max < needed) {
    throw Failure(Exit::cannot_run,
                  fmt::format("{} ranks need {} open files in one process, and the hard limit is "
                              "{}: raise it (ulimit -Hn {})",
                              std::max(ranks, peers + 1), needed, limit.rlim_max, needed));
  }
  limit.rlim_cur = limit.rlim_max;
  if (::setrlimit(RLIMIT_NOFILE, &limit) == 0) return;
  throw Failure(Exit::cannot_run, fmt::format("cannot raise the limit of open files to {}: {}",
                                              limit.rlim_max, std::strerror(errno)));
}

}  // namespace ucxbench
