#pragma once

#include "harness/core/field.hpp"

namespace ucxbench {

/// Throws Failure(Exit::usage) for a value as in the run file that its option does not take: of
/// another type, or out of range. Null and `usual` pass.
void check_recorded(const Field& field, const Json& value, const Json& usual);

}  // namespace ucxbench
