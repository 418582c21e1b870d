#pragma once

#include <fmt/format.h>

#include <cstdio>
#include <utility>

namespace ucxbench {

/// To stdout or stderr. Who cannot be written to changes nothing here, whereas fmt::print throws:
/// what is on disk stays right, and run_command_line looks at stdout in the end.
template <typename... Args>
void print_to(std::FILE* file, fmt::format_string<Args...> format, Args&&... args) {
  std::fputs(fmt::format(format, std::forward<Args>(args)...).c_str(), file);
}

}  // namespace ucxbench
