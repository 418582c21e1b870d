#pragma once

#include <optional>
#include <string>

#include "harness/core/json.hpp"

namespace ucxbench {

// JSON has a null for what is not known; it is never 0 or "".

inline Json text_or_null(const std::string& text) { return text.empty() ? Json() : Json(text); }

template <typename Number>
Json number_or_null(const std::optional<Number>& number) {
  return number ? Json(*number) : Json();
}

}  // namespace ucxbench
