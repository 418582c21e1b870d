#pragma once

#include <string_view>

namespace ucxbench {

/// How a load grows with the number of ranks (--scaling): unsaid, each workload's size means what
/// it usually does; weak, every rank has as much whatever their number; strong, all together have.
enum class Scaling { unsaid, weak, strong };

/// Throws Failure(Exit::usage). Unsaid is the empty text.
Scaling parse_scaling(std::string_view name);
std::string_view to_string(Scaling scaling);

}  // namespace ucxbench
