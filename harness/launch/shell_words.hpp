#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ucxbench {

/// Splits as a POSIX shell would, honouring quotes and backslashes and nothing else: no variables,
/// globs or operators. Throws Failure(Exit::usage) when a quote stays open.
std::vector<std::string> split_shell_words(std::string_view text);

/// The words of a `--wrap` text with every `{rank}` replaced, followed by `command`.
std::vector<std::string> wrap_command(std::string_view wrap, int rank,
                                      const std::vector<std::string>& command);

}  // namespace ucxbench
