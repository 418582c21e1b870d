#pragma once

#include "harness/memory/buffer.hpp"

namespace ucxbench {

/// A mistake made on purpose, to see that it is noticed (--inject).
enum class Injected { nothing, corrupt, drop, misroute };

/// Turns the sign of one element, in memory of this kind: a bit that went wrong on the way.
void corrupt(MemoryKind kind, double* element);

}  // namespace ucxbench
