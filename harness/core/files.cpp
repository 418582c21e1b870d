#include "harness/core/files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <fstream>
#include <sstream>
#include <system_error>

#include "harness/core/failure.hpp"

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

std::filesystem::path own_program() {
  std::error_code absent;
  return std::filesystem::read_symlink("/proc/self/exe", absent);
}

std::string own_namespace(const char* kind) {
  std::error_code unknown;
  return std::filesystem::read_symlink(std::filesystem::path("/proc/self/ns") / kind, unknown);
}

std::string read_given(const std::filesystem::path& file, std::uint64_t most_bytes,
                       const std::string& advice) {
  std::error_code unknown;
  const bool folder = std::filesystem::is_directory(file, unknown);
  errno = 0;
  std::ifstream in(file, std::ios::binary);
  if (!in || folder) {
    throw Failure(Exit::usage,
                  fmt::format("cannot read '{}': {}; {}", file.string(),
                              std::generic_category().message(folder ? EISDIR : errno), advice));
  }
  // A pipe has no size to ask for, and a file may grow: then only what is read tells.
  const auto size = std::filesystem::file_size(file, unknown);
  bool too_large = !unknown && size > most_bytes;
  constexpr std::size_t step = std::size_t{64} << 10U;
  std::string text;
  if (!unknown && !too_large) text.reserve(size + step);
  for (std::size_t done = 0; in && !too_large; too_large = text.size() > most_bytes) {
    text.resize(done + step);
    in.read(text.data() + done, step);
    text.resize(done += static_cast<std::size_t>(in.gcount()));
  }
  if (too_large) {
    throw Failure(Exit::usage, fmt::format("'{}' is larger than {} MiB; {}", file.string(),
                                           most_bytes >> 20U, advice));
  }
  return text;
}

}  // namespace ucxbench
