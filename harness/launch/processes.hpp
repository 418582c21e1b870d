#pragma once

#include <sys/types.h>

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

}  // namespace ucxbench
