#pragma once

#include <string_view>

#include "harness/memory/buffer.hpp"

namespace ucxbench {

/// A mistake made on purpose, to see that it is noticed (--inject).
enum class Injected { nothing, corrupt, drop, misroute };

/// Throws Failure(Exit::usage). Nothing is the empty text.
Injected parse_injected(std::string_view name);
std::string_view to_string(Injected injected);

/// Turns the sign of one element, in memory of this kind: a bit that went wrong on the way.
void corrupt(MemoryKind kind, double* element);

}  // namespace ucxbench
