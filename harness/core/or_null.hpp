#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

namespace ucxbench {

// JSON has a null for what is not known; it is never 0 or "".

inline nlohmann::ordered_json text_or_null(const std::string& text) {
  return text.empty() ? nlohmann::ordered_json() : nlohmann::ordered_json(text);
}

template <typename Number>
nlohmann::ordered_json number_or_null(const std::optional<Number>& number) {
  return number ? nlohmann::ordered_json(*number) : nlohmann::ordered_json();
}

}  // namespace ucxbench
