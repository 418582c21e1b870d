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

}  // namespace ucxbench
