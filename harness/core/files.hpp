#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace ucxbench {

// Of /proc and /sys: what is not there, or may not be read, is empty, never an error.

std::string text_of(const std::filesystem::path& file);
std::string first_line(const std::filesystem::path& file);

/// The decimal number that the file begins with.
std::optional<std::uint64_t> number_of(const std::filesystem::path& file);

/// The names in a folder, sorted.
std::vector<std::string> entries_of(const std::filesystem::path& folder);

}  // namespace ucxbench
