#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ucxbench {

/// Parts between separators, without the blanks around them: "a, b" → {"a", "b"}.
std::vector<std::string_view> split_text(std::string_view text, char separator);

/// Text without blanks at both ends.
std::string_view trim_text(std::string_view text);

/// Its ASCII letters in lower case.
std::string lower_case(std::string_view text);

/// "did you mean 'nvlink'?", or empty where none is near.
std::string did_you_mean(std::string_view given, const std::vector<std::string>& known);

/// "unknown transport 'nvlnik': did you mean 'nvlink'? known: …"; of many names only the nearest.
std::string unknown_name(std::string_view what, std::string_view given,
                         const std::vector<std::string>& known);

}  // namespace ucxbench
