// Preloaded into ranks by the tests: rank 1 crashes at the end of its process, when all is done.

#include <csignal>

#include "shim.hpp"

namespace {

[[gnu::destructor]] void end_badly() {
  if (variable("UCXBENCH_INTERNAL_RANK") == "1") std::raise(SIGSEGV);
}

}  // namespace
