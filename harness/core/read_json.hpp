#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <stdexcept>
#include <string>
#include <string_view>

#include "harness/core/json.hpp"

namespace ucxbench {

/// Deeper than any file of ours. JSON is copied and written by functions that call themselves, and
/// deeper text of others must not end the stack.
constexpr std::size_t most_json_levels = 100;

/// What a text may have at most. Reading then takes time in proportion to its size.
struct JsonLimits {
  /// In one object, where a member is found by walking over those before it. Ours have hundreds.
  std::size_t members = 4096;
  /// In all. In memory an empty list takes 64 bytes, more than twenty times its text.
  std::size_t values = std::size_t{1} << 27U;
};

enum class JsonFlaw { broken, too_deep, many_members, many_values, large_number, key_twice };

/// Why a text is not taken as JSON; what() is the reason as a sentence without its end.
class BadJson : public std::runtime_error {
 public:
  BadJson(JsonFlaw of, std::size_t count, const std::string& name = {});

  JsonFlaw flaw;
  std::size_t number;  ///< the byte where it breaks, or the limit
  std::string key;     ///< that stands twice
};

/// Reads JSON that somebody else may have written. Throws BadJson. A key that stands twice in one
/// object is refused, because nobody can know which of the two counts.
Json read_json(std::string_view text, const JsonLimits& limits = {});

/// The same; null for what is not taken as JSON.
Json json_or_null(std::string_view text);

/// What an exception says, without nlohmann's "[json.exception.…] ".
std::string why_not_json(const std::exception& error);

}  // namespace ucxbench
