#include "harness/core/json_depth.hpp"

namespace ucxbench {

bool too_deep(std::string_view json) {
  int level = 0;
  bool quoted = false;
  for (std::size_t at = 0; at < json.size(); ++at) {
    const char c = json[at];
    if (c == '"') {
      quoted = !quoted;
    } else if (quoted) {
      if (c == '\\') ++at;
    } else if (c == '[' || c == '{') {
      if (++level > most_json_levels) return true;
    } else if (c == ']' || c == '}') {
      --level;
    }
  }
  return false;
}

std::string why_not_json(const std::exception& error) {
  const std::string why = error.what();
  const auto prefix = why.starts_with('[') ? why.find("] ") : std::string::npos;
  return prefix == std::string::npos ? why : why.substr(prefix + 2);
}

}  // namespace ucxbench
