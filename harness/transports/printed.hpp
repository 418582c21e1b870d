#pragma once

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <regex>
#include <string>
#include <string_view>
#include <vector>

#include "harness/core/fd.hpp"
#include "harness/core/files.hpp"

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

/// What `act` prints to this process's stdout, which nobody sees; "" where that cannot be had.
template <typename Act>
std::string printed_to_stdout(Act act) {
  std::fflush(stdout);
  const Fd before(::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3));
  const Fd file(::memfd_create("stdout", MFD_CLOEXEC));
  if (!before || !file || ::dup2(file.get(), STDOUT_FILENO) < 0) {
    act();
    return "";
  }
  act();
  std::fflush(stdout);
  ::dup2(before.get(), STDOUT_FILENO);
  return text_of(fmt::format("/proc/self/fd/{}", file.get()));
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
