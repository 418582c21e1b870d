#pragma once

#include <string>
#include <string_view>

namespace ucxbench {

/// Refuses, with Failure(Exit::usage) and "FILE:LINE: …", what toml++ 3.3 does not survive (found
/// by ci/fuzz/toml.cpp): a table's header without a name, characters outside of ASCII that are in
/// neither a comment nor a string of one line, and keys of very many parts.
/// Whether the rest is TOML is left to toml++.
void check_toml_text(std::string_view text, const std::string& file);

}  // namespace ucxbench
