#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace ucxbench {

/// JSON has a null for what is not known.
inline nlohmann::ordered_json text_or_null(const std::string& text) {
  return text.empty() ? nlohmann::ordered_json() : nlohmann::ordered_json(text);
}

}  // namespace ucxbench
