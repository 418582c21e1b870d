#pragma once

#include <string>

#include "harness/report/text.hpp"

namespace ucxbench {

/// A table as GitHub renders it, with an empty line behind; what its cells say is literal.
std::string markdown_table(const Grid& grid);

}  // namespace ucxbench
