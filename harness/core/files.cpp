#include "harness/core/files.hpp"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <sstream>

namespace ucxbench {

std::string text_of(const std::filesystem::path& file) {
  std::ifstream in(file);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

std::string first_line(const std::filesystem::path& file) {
  std::ifstream in(file);
  std::string line;
  std::getline(in, line);
  return line;
}

std::optional<std::uint64_t> number_of(const std::filesystem::path& file) {
  const auto line = first_line(file);
  std::uint64_t value = 0;
  // Of streams, "-1" would be a very large one.
  const auto read = std::from_chars(line.data(), line.data() + line.size(), value);
  return read.ec == std::errc() ? std::optional(value) : std::nullopt;
}

std::vector<std::string> entries_of(const std::filesystem::path& folder) {
  std::vector<std::string> names;
  std::error_code absent;
  for (const auto& entry : std::filesystem::directory_iterator(folder, absent)) {
    names.push_back(entry.path().filename());
  }
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace ucxbench
