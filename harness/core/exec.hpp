#pragma once

// What starting a rank and starting another program have in common between fork and exec.

#include <sys/types.h>

#include <string>
#include <vector>

namespace ucxbench {

/// argv or environ of the strings, null at the end; good as long as these stay as they are. Before
/// fork: it allocates.
std::vector<char*> pointers_to(std::vector<std::string>& strings);

/// The first thing that a child does. It gets a process group of its own, `at_its_end` when the
/// *thread* of `parent` that forked it ends, no blocked signal, and the default action of those
/// that we, UCX or who started us may have changed. Makes only system calls, as all must between
/// fork and exec: another thread may have held the allocator's lock. Ends the child if `parent` is
/// gone already.
void begin_child(pid_t parent, int at_its_end);

/// Undoes the crash handlers that libucs installs when it is loaded: in a supervisor, which calls
/// no UCX, they would only hide what the kernel has to say.
void reset_crash_handlers();

}  // namespace ucxbench
