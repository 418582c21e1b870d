#pragma once

#include <mutex>
#include <set>

#include "ci/cuda-emulator/driver.hpp"

namespace emulator {

struct Context {
  Device device;  // as CUDA numbers it
  bool primary;
  bool active;
  unsigned flags;
  int retained;
  unsigned long long id;  // a new one each time a primary context becomes active again
  std::set<const Context*> peers;
};

/// Guards everything below the calls. Recursive, because an allocation of ours may make UCX's
/// hooks on mmap and free call us again.
std::recursive_mutex& driver_mutex();

/// What every call checks first: SUCCESS after cuInit, in the process that called it. A CUDA
/// context does not survive fork, and neither does this one.
Result ready();

/// The same, and a device of this number exists.
Result ready_for(Device device);

/// The same as ready, and the thread has a usable current context, which is stored.
Result current(Context*& context);

bool is_context(const Context* context);

/// How often this process was forked since cuInit.
int forks();

}  // namespace emulator
