#pragma once

#include <sys/types.h>

#include <cstddef>
#include <optional>
#include <vector>

namespace ucxbench {

/// What the kernel says of a process or a thread.
struct ProcessState {
  pid_t id;
  char state;  ///< as in proc(5): 'R', 'S', 'D', 'T' (stopped), 't' (traced), 'Z'
  pid_t group;
};

/// Of all processes that are seen here.
std::vector<ProcessState> all_processes();

/// Of all threads of one; empty when it is gone.
std::vector<ProcessState> threads_of(pid_t process);

/// Gone, or dead and not yet taken notice of. One that is being taken apart is not: it may hold
/// memory.
bool is_over(pid_t process);

/// Whether so many ranks that end at once would keep whoever waits for them from its own end, so
/// that they must give way to it. Fewer must not: beside busy programs the kernel then takes a
/// minute to take one apart, and its shared memory stays until then.
bool give_way_at_their_end(std::size_t ranks);

}  // namespace ucxbench
