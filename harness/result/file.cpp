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

/// Every pair of 1,024 ranks has 0.86 GB for a case and a launch. What is read takes memory in
/// proportion to the file, up to fifty times its size where it is none of ours.
constexpr std::uint64_t most_bytes = std::uint64_t{1} << 30U;

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
  // A rename would replace a symbolic link, or a device such as /dev/null, by a plain file. A pipe
  // as /dev/fd/63 is a link to what is no path.
  const auto status = std::filesystem::status(file, ignored);
  if (std::filesystem::is_directory(status)) cannot_write(file, EISDIR);
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status)) {
    if (const int error = write_all(file, 0, bytes)) cannot_write(file, error);
    return;
  }
  const auto target = std::filesystem::is_symlink(file, ignored)
                          ? std::filesystem::weakly_canonical(file, ignored)
                          : file;
  auto temporary = target;
  temporary.replace_filename(temporary_name(target.filename().string()));
  const SignalCleanup not_whole(temporary);
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
