#include "harness/core/files.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <fstream>
#include <span>
#include <sstream>
#include <system_error>

#include "harness/core/failure.hpp"
#include "harness/core/fd.hpp"

namespace ucxbench {
namespace {

/// A file, or a pipe whose writer may come some seconds later: without a limit one would wait for
/// it for ever.
class Source {
 public:
  explicit Source(const std::filesystem::path& file)
      : fd_(::open(file.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC)), error_(fd_ ? 0 : errno) {
    std::error_code unknown;
    awaits_writer_ = std::filesystem::is_fifo(file, unknown);
  }

  /// Of opening it; 0 for none.
  int error() const { return error_; }

  /// As read(2), but it waits for what a writer has not yet written; ENXIO where none comes.
  ssize_t read(std::span<char> into) {
    constexpr std::chrono::seconds comes_within{3};
    const auto until = std::chrono::steady_clock::now() + comes_within;
    for (;;) {
      const auto count = ::read(fd_.get(), into.data(), into.size());
      const bool later = count < 0 && (errno == EAGAIN || errno == EINTR);
      pollfd state{fd_.get(), POLLIN, 0};
      // Only one that had a writer has hung up.
      const bool nobody = count == 0 && awaits_writer_ &&
                          (::poll(&state, 1, 0) == 0 || (state.revents & POLLIN) != 0);
      if (!later && !nobody) {
        awaits_writer_ = false;
        return count;
      }
      if (nobody && std::chrono::steady_clock::now() > until) {
        errno = ENXIO;
        return -1;
      }
      constexpr int look_again_ms = 100;
      ::poll(&state, 1, look_again_ms);
    }
  }

 private:
  Fd fd_;
  int error_;
  bool awaits_writer_ = false;
};

}  // namespace

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
  Source source(file);
  std::error_code unknown;
  // A pipe has no size to ask for, and a file may grow: then only what is read tells.
  const auto size = std::filesystem::file_size(file, unknown);
  bool too_large = source.error() == 0 && !unknown && size > most_bytes;
  constexpr std::size_t step = std::size_t{64} << 10U;
  std::string text;
  if (source.error() == 0 && !unknown && !too_large) text.reserve(size + step);
  int error = source.error();
  for (std::size_t done = 0; error == 0 && !too_large; too_large = text.size() > most_bytes) {
    text.resize(done + step);
    const auto count = source.read(std::span(text).subspan(done));
    error = count < 0 ? errno : 0;
    text.resize(done += static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
    if (count == 0) break;
  }
  if (too_large) {
    throw Failure(Exit::usage, fmt::format("'{}' is larger than {} MiB; {}", file.string(),
                                           most_bytes >> 20U, advice));
  }
  if (error == 0) return text;
  throw Failure(Exit::usage, fmt::format("cannot read '{}': {}; {}", file.string(),
                                         error == ENXIO ? "Nobody writes to this pipe"
                                                        : std::generic_category().message(error),
                                         advice));
}

}  // namespace ucxbench
