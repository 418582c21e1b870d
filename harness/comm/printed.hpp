#pragma once

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <regex>
#include <string>
#include <string_view>
#include <vector>

namespace ucxbench {

/// What `print(FILE*)` prints: UCX tells some things only to a FILE.
template <typename Print>
std::string printed(Print print) {
  char* text = nullptr;
  std::size_t length = 0;
  std::FILE* out = open_memstream(&text, &length);
  if (out == nullptr) throw std::bad_alloc();
  print(out);
  std::fclose(out);
  std::string copy(text, length);
  std::free(text);
  return copy;
}

/// What the pattern's first group matches in `text`, each once, in the order of the text.
inline std::vector<std::string> distinct_matches(std::string_view text, const std::regex& pattern) {
  std::vector<std::string> found;
  for (std::cregex_iterator it(text.data(), text.data() + text.size(), pattern), end; it != end;
       ++it) {
    const auto name = (*it)[1].str();
    if (std::find(found.begin(), found.end(), name) == found.end()) found.push_back(name);
  }
  return found;
}

}  // namespace ucxbench
