#pragma once

#include <string_view>

#include "harness/core/json.hpp"

namespace ucxbench {

/// results/schema/run-1.schema.json as it was when the program was built.
std::string_view run_schema_text();

/// Which part of a run file.
enum class RunPart { run_without_launches, launch };

/// Throws std::invalid_argument with the place of a value that is of another type than
/// results/schema/run-1.schema.json says: "/ranks/0/host is of another type: number". What else the
/// schema says, older files may not meet.
void check_types(const Json& json, RunPart part);

}  // namespace ucxbench
