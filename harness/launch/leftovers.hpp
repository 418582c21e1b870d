#pragma once

#include <sys/types.h>

#include <ctime>
#include <string>
#include <vector>

namespace ucxbench {

// UCX gives shared memory a name, or an id, before it has a peer, and takes it away again a little
// later (with some settings only at the end). A process killed in between leaves it for good.

/// By what to know the shared memory of ranks that are dead.
struct Traces {
  std::vector<pid_t> creators;       ///< of System V segments
  std::vector<std::string> folders;  ///< of UCX's files
  std::time_t since = 0;             ///< nothing older is theirs

  void add(const Traces& other);
};

/// Where a process with these "NAME=value" has UCX put its files.
std::string shared_memory_folder(const std::vector<std::string>& environment);

/// Removes what they left: segments that nobody has attached, and those of UCX's files in `folders`
/// that are this user's and that nobody on this host has open or mapped, in whatever container.
/// Waits 3 s at most for those of `creators` that are still dying, and half a second for others.
void remove_leftovers(const Traces& of);

/// For the last moments of a process, in which another thread may hold any lock: stops all threads
/// but this one for good, then removes the System V segments that it made since `since`, and UCX's
/// files that it has open or mapped. Takes no lock and no memory from the heap.
void stop_and_leave_nothing(std::time_t since) noexcept;

/// The second half of it.
void remove_own_leftovers(std::time_t since) noexcept;

/// For a process that will end at once: its connections end by a reset. Orderly ends, which say
/// goodbye in both directions, take the kernel three times as long: 1.2 instead of 0.4 s for those
/// between 300 ranks, on two processors.
void reset_connections() noexcept;

/// For a thread that is to handle no signals: blocks all but the one that stop_and_leave_nothing
/// stops threads by.
void block_signals_but_stop() noexcept;

}  // namespace ucxbench
