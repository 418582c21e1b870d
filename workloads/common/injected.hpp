#pragma once

#include <string_view>

namespace ucxbench {

/// A mistake made on purpose, to see that it is noticed (--inject).
enum class Injected { nothing, corrupt, drop, misroute };

/// Throws Failure(Exit::usage). Nothing is the empty text.
Injected parse_injected(std::string_view name);
std::string_view to_string(Injected injected);

}  // namespace ucxbench
