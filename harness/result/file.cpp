#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <random>
#include <string_view>
#include <system_error>

#include "harness/core/ending.hpp"
#include "harness/core/failure.hpp"
#include "harness/core/files.hpp"
#include "harness/result/journal.hpp"
#include "harness/result/new_file.hpp"
#include "harness/result/result.hpp"

namespace ucxbench {
namespace {

/// Every pair of 256 ranks has 53 MB for a case and a launch.
constexpr std::uint64_t most_bytes = std::uint64_t{512} << 20U;
constexpr std::size_t line_width = 100;  ///< an object longer than this is spread over lines
/// A list longer than this, as of many pairs, is for no person: an entry is one line, which is half
/// as many bytes.
constexpr std::size_t most_spread = 1000;

std::string compact(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

/// A container of plain values on one line, with a space after each comma and colon.
std::string one_line(const Json& json) {
  std::string text(1, json.is_array() ? '[' : '{');
  const char* separator = "";
  for (const auto& [key, value] : json.items()) {
    text += separator;
    if (json.is_object()) text += compact(Json(key)) + ": ";
    text += compact(value);
    separator = ", ";
  }
  return text + (json.is_array() ? ']' : '}');
}

void append_text(std::string& out, const Json& json, std::size_t indent) {
  if (!json.is_structured()) {
    out += compact(json);
    return;
  }
  if (std::none_of(json.begin(), json.end(),
                   [](const Json& value) { return value.is_structured() && !value.empty(); })) {
    const auto line = one_line(json);
    if (json.is_array() || indent + line.size() <= line_width) {
      out += line;
      return;
    }
  }
  out += json.is_array() ? '[' : '{';
  const char* separator = "\n";
  for (const auto& [key, value] : json.items()) {
    out += separator + std::string(indent + 2, ' ');
    if (json.is_object()) out += compact(Json(key)) + ": ";
    if (json.is_array() && json.size() > most_spread) {
      out += compact(value);
    } else {
      append_text(out, value, indent + 2);
    }
    separator = ",\n";
  }
  out += "\n" + std::string(indent, ' ') + (json.is_array() ? ']' : '}');
}

std::string reason_of(int error) { return std::generic_category().message(error); }

[[noreturn]] void cannot_write(const std::filesystem::path& file, int error) {
  throw Failure(Exit::usage, "cannot write '" + file.string() + "': " + reason_of(error) +
                                 "; choose another path");
}

/// One that nobody can foresee, since mkstemp(3) would leave out what the umask allows others.
std::string temporary_name(const std::string& name) {
  std::random_device random;
  return "." + name + "." + std::to_string(std::uint64_t{random()} << 32U | random()) + ".tmp";
}

/// 0, or the errno of the first failure, after which a file that was appended to is as before.
int write_all(const std::filesystem::path& file, int flags, std::string_view bytes) {
  const int fd = ::open(file.c_str(), flags | O_WRONLY | O_CLOEXEC, 0666);
  if (fd < 0) return errno;
  struct stat before{};
  int error = ::fstat(fd, &before) == 0 ? 0 : errno;
  for (std::size_t done = 0; done < bytes.size() && error == 0;) {
    const auto written = ::write(fd, bytes.data() + done, bytes.size() - done);
    if (written >= 0) {
      done += static_cast<std::size_t>(written);
    } else if (errno != EINTR) {
      error = errno;
    }
  }
  // Best effort: a pipe cannot take back what it has.
  if (error != 0 && (flags & O_APPEND) != 0 && ::ftruncate(fd, before.st_size) != 0) errno = error;
  if (::close(fd) != 0 && error == 0) error = errno;
  return error;
}

}  // namespace

int write_new(const std::filesystem::path& file, std::string_view bytes) {
  return write_all(file, O_CREAT | O_EXCL, bytes);
}

std::string to_text(const Json& json) {
  std::string text;
  append_text(text, json, 0);
  return text + "\n";
}

Result read_result(const std::filesystem::path& named) {
  const auto file = run_file_of(named);
  auto result = parse_result(
      read_given(file, most_bytes, "give a file written by ucx-bench --json"), file.string());
  result.file = file;
  if (!result.run.contains("journal")) return result;
  const auto journal = journal_of(file);
  std::error_code absent;
  const bool there = std::filesystem::exists(journal, absent);
  take_journal(result, there ? read_given(journal, most_bytes, "") : "", journal.string());
  fmt::print(stderr,
             "ucx-bench: '{}': the run was interrupted, or still goes on: it has what was measured "
             "so far\n",
             file.string());
  return result;
}

void append_whole(const std::filesystem::path& file, std::string_view bytes) {
  if (const int error = write_all(file, O_CREAT | O_APPEND, bytes)) cannot_write(file, error);
}

void write_atomically(const std::filesystem::path& file, const std::string& bytes) {
  std::error_code ignored;
  // A rename would replace a symbolic link, or a device such as /dev/null, by a plain file.
  const auto target = std::filesystem::is_symlink(file, ignored)
                          ? std::filesystem::weakly_canonical(file, ignored)
                          : file;
  const auto status = std::filesystem::status(target, ignored);
  if (std::filesystem::is_directory(status)) cannot_write(file, EISDIR);
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status)) {
    if (const int error = write_all(target, 0, bytes)) cannot_write(file, error);
    return;
  }
  auto temporary = target;
  temporary.replace_filename(temporary_name(target.filename().string()));
  const GoesToo not_whole(temporary);
  // In a folder that others may write to, a link may stand where a file is expected.
  int error = write_new(temporary, bytes);
  if (error == EEXIST) cannot_write(file, error);  // not ours to remove
  if (error == 0 && ::rename(temporary.c_str(), target.c_str()) != 0) error = errno;
  if (error != 0) {
    ::unlink(temporary.c_str());
    cannot_write(file, error);
  }
}

}  // namespace ucxbench
