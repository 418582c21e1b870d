#pragma once

#include <fmt/format.h>

#include <cstdio>
#include <string>
#include <utility>

#include "harness/core/literal.hpp"

namespace ucxbench {

// All that goes to stdout or stderr. Who cannot be written to changes nothing here, whereas
// fmt::print throws: what is on disk stays right, and run_command_line looks at stdout in the end.

/// On a terminal: goes to the begin of the line, which it erases.
inline constexpr const char* clear_line = "\r\x1b[K";

/// What a writer has made, of texts that it has made literal.
inline void print_made(std::FILE* file, const std::string& bytes) {
  std::fputs(bytes.c_str(), file);
}

/// Whatever it says is text and no more (for_terminal).
template <typename... Args>
void print_to(std::FILE* file, fmt::format_string<Args...> format, Args&&... args) {
  print_made(file, for_terminal(fmt::format(format, std::forward<Args>(args)...)));
}

}  // namespace ucxbench
