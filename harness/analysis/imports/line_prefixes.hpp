#pragma once

#include <string>
#include <string_view>

namespace ucxbench {

/// The text without what logs, launchers, mails and terminals put before each of its lines: a time,
/// "> ", "| ", "node1: " of pdsh, "[1,0]<stdout>:" of mpirun, colours. Lines stay as many. Throws
/// Failure(Exit::usage) where lines of several hosts or ranks are mixed, or one lacks the label of
/// the others.
std::string without_line_prefixes(std::string_view text);

}  // namespace ucxbench
