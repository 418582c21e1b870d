#include "harness/result/file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <random>
#include <system_error>
#include <thread>
#include <tuple>

#include "harness/core/ending.hpp"
#include "harness/core/failure.hpp"
#include "harness/core/fd.hpp"
#include "harness/core/files.hpp"
#include "harness/core/print.hpp"
#include "harness/result/journal.hpp"
#include "harness/result/result.hpp"

namespace ucxbench {
namespace {

/// Every pair of 1,024 ranks has 0.86 GB for a case and a launch. What is read takes memory in
/// proportion to the file, up to fifty times its size where it is none of ours.
constexpr std::uint64_t most_bytes = std::uint64_t{1} << 30U;

// Of a reader of a pipe.
constexpr std::chrono::seconds opens_within(10), reads_within(60);

/// One that nobody can foresee, since mkstemp(3) would leave out what the umask allows others.
std::string temporary_name(const std::string& name) {
  std::random_device random;
  return "." + name + "." + std::to_string(std::uint64_t{random()} << 32U | random()) + ".tmp";
}

/// 0, or the errno of the first failure. Where `fd` does not block, waits until more can be taken.
int write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const auto written = ::write(fd, bytes.data(), bytes.size());
    if (written >= 0) {
      bytes.remove_prefix(static_cast<std::size_t>(written));
    } else if (errno == EAGAIN) {
      pollfd ready{.fd = fd, .events = POLLOUT, .revents = 0};
      const std::chrono::milliseconds limit = reads_within;
      if (::poll(&ready, 1, static_cast<int>(limit.count())) == 0) return ETIMEDOUT;
    } else if (errno != EINTR) {
      return errno;
    }
  }
  return 0;
}

/// 0, or the errno of the first.
int either(int error, int other) { return error != 0 ? error : other; }

int write_new(const std::filesystem::path& file, std::string_view bytes) {
  const Fd made(::open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
  if (!made) return errno;
  const int error = write_all(made.get(), bytes);
  return either(error, sync(made.get()));
}

/// A pipe's reader may come later; without a limit a run would wait for one for ever.
int write_through(const std::filesystem::path& file, std::string_view bytes) {
  const auto until = std::chrono::steady_clock::now() + opens_within;
  while (true) {
    const Fd open(::open(file.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC));
    if (open) return write_all(open.get(), bytes);
    const bool no_reader_yet = errno == ENXIO && std::filesystem::is_fifo(file);
    if (!no_reader_yet || std::chrono::steady_clock::now() > until) return errno;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

std::string reason_of(int error) {
  if (error == ENXIO) return "Nobody reads this pipe";
  if (error == ETIMEDOUT) return "Its reader does not read";
  return std::generic_category().message(error);
}

}  // namespace

void cannot_write(const std::filesystem::path& file, int error) {
  throw Failure(Exit::usage, "cannot write '" + file.string() + "': " + reason_of(error) +
                                 "; choose another path");
}

std::filesystem::path follow_links(std::filesystem::path file) {
  std::error_code error;
  constexpr int most = 40;  // as Linux follows (path_resolution(7))
  for (int links = 0; links < most && std::filesystem::is_symlink(file, error); ++links) {
    const auto to = std::filesystem::read_symlink(file, error);
    if (error) break;
    file = file.parent_path() / to;
  }
  return file;
}

int sync(int fd) {
  return ::fsync(fd) == 0 || errno == EINVAL || errno == EROFS || errno == ENOTSUP ? 0 : errno;
}

int sync_folder_of(const std::filesystem::path& file) {
  const auto folder = file.has_parent_path() ? file.parent_path() : std::filesystem::path(".");
  const Fd open(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!open) return errno == EACCES ? 0 : errno;  // one may write to a folder that one may not read
  return sync(open.get());
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
  print_to(stderr,
           "ucx-bench: '{}': the run was interrupted, or still goes on: it has what was measured "
           "so far\n",
           file.string());
  return result;
}

int append_whole(int fd, std::string_view bytes) {
  struct stat before{};
  if (::fstat(fd, &before) != 0) return errno;
  const int error = write_all(fd, bytes);
  // Best effort: a pipe cannot take back what it has.
  if (error != 0) std::ignore = ::ftruncate(fd, before.st_size);
  return error;
}

void append_whole(const std::filesystem::path& file, std::string_view bytes, NamedBy name) {
  const int links = name == NamedBy::program ? O_NOFOLLOW : 0;
  const Fd open(::open(file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | links, 0666));
  const int error = open ? append_whole(open.get(), bytes) : errno;
  if (error != 0) cannot_write(file, error);
}

void sync_file(const std::filesystem::path& file) {
  const Fd open(::open(file.c_str(), O_WRONLY | O_CLOEXEC));
  const int error = open ? sync(open.get()) : errno;
  if (error != 0) cannot_write(file, error);
}

void write_atomically(const std::filesystem::path& file, const std::string& bytes, NamedBy name) {
  const auto target = name == NamedBy::person ? follow_links(file) : file;
  std::error_code ignored;
  // A rename would replace a device such as /dev/null by a plain file.
  const auto status = std::filesystem::status(file, ignored);
  if (std::filesystem::is_directory(status)) cannot_write(file, EISDIR);
  if (name == NamedBy::person && std::filesystem::exists(status) &&
      !std::filesystem::is_regular_file(status)) {
    if (const int error = write_through(file, bytes)) cannot_write(file, error);
    return;
  }
  auto temporary = target;
  temporary.replace_filename(temporary_name(target.filename().string()));
  const SignalCleanup not_whole(temporary);
  int error = write_new(temporary, bytes);
  if (error == EEXIST) cannot_write(file, error);  // not ours to remove
  if (error == 0 && ::rename(temporary.c_str(), target.c_str()) != 0) error = errno;
  if (error != 0) {
    ::unlink(temporary.c_str());
    cannot_write(file, error);
  }
  error = sync_folder_of(target);
  if (error == 0) return;
  ::unlink(target.c_str());  // it may be gone later: better at once
  cannot_write(file, error);
}

}  // namespace ucxbench
