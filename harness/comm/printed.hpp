#pragma once

#include <cstdio>
#include <cstdlib>
#include <new>
#include <string>

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

}  // namespace ucxbench
