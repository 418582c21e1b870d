#pragma once

#include <exception>
#include <string>
#include <string_view>

namespace ucxbench {

/// Deeper than any file of ours. JSON is copied and written by functions that call themselves, and
/// deeper text of others must not end the stack.
constexpr int most_json_levels = 100;

/// Whether brackets of JSON text are nested deeper; the text need not be JSON.
bool too_deep(std::string_view json);

/// What an exception says, without nlohmann's "[json.exception.…] ".
std::string why_not_json(const std::exception& error);

}  // namespace ucxbench
