#pragma once

#include <string>

#include "harness/report/text.hpp"

namespace ucxbench {

/// Text that Markdown would take for markup, made literal.
std::string markdown_escaped(const std::string& text);

/// A table as GitHub renders it, with an empty line behind.
std::string markdown_table(const Grid& grid);

}  // namespace ucxbench
