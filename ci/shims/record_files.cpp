// Preloaded by the tests: writes down what is done to files in FILES_FOLDER, in order, into
// FILES_LOG, from which a test makes what a crash of the machine could leave. A line each, with
// tabs between: name INODE PATH, data INODE BYTES (then the bytes), cut INODE LENGTH, sync INODE,
// sync-names FOLDER, rename FROM TO, remove PATH.

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdarg>
#include <filesystem>
#include <mutex>
#include <string>

#include "shim.hpp"

namespace {

void note(const std::string& line, const void* data = nullptr, size_t bytes = 0) {
  static const auto write_it = next<decltype(::write)>("write");
  static const auto open_it = next<decltype(::open)>("open");
  static const int log =
      open_it(variable("FILES_LOG").c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  static std::mutex one;
  const std::lock_guard lock(one);
  auto entry = line + "\n";
  if (bytes != 0) entry.append(static_cast<const char*>(data), bytes);
  if (write_it(log, entry.data(), entry.size()) < 0) std::abort();
}

std::string absolute(const char* path) { return std::filesystem::absolute(path).string(); }

bool is_watched(const std::string& path) {
  static const auto folder = variable("FILES_FOLDER");
  return !folder.empty() && path.starts_with(folder);
}

std::string path_of(int fd) {
  std::error_code unknown;
  return std::filesystem::read_symlink("/proc/self/fd/" + std::to_string(fd), unknown).string();
}

std::string inode_of(int fd) {
  struct stat what{};
  return fstat(fd, &what) == 0 ? std::to_string(what.st_ino) : "";
}

int opened(int fd, const char* path, int flags) {
  if (fd >= 0 && (flags & O_CREAT) != 0 && is_watched(absolute(path))) {
    note("name\t" + inode_of(fd) + "\t" + absolute(path));
  }
  return fd;
}

int synced(int fd, int result) {
  const auto path = path_of(fd);
  if (result != 0 || !is_watched(path)) return result;
  const bool folder = std::filesystem::is_directory(path);
  note(folder ? "sync-names\t" + path : "sync\t" + inode_of(fd));
  return result;
}

}  // namespace

extern "C" {

int open(const char* path, int flags, ...) {
  static const auto real = next<decltype(::open)>("open");
  va_list arguments;
  va_start(arguments, flags);
  const auto mode = va_arg(arguments, mode_t);
  va_end(arguments);
  return opened(real(path, flags, mode), path, flags);
}

ssize_t write(int fd, const void* data, size_t bytes) {
  static const auto real = next<decltype(::write)>("write");
  const auto written = real(fd, data, bytes);
  if (written > 0 && is_watched(path_of(fd))) {
    const auto count = static_cast<size_t>(written);
    note("data\t" + inode_of(fd) + "\t" + std::to_string(count), data, count);
  }
  return written;
}

int ftruncate(int fd, off_t length) noexcept {
  static const auto real = next<decltype(::ftruncate)>("ftruncate");
  const int result = real(fd, length);
  if (result == 0 && is_watched(path_of(fd))) {
    note("cut\t" + inode_of(fd) + "\t" + std::to_string(length));
  }
  return result;
}

int fsync(int fd) {
  static const auto real = next<decltype(::fsync)>("fsync");
  return synced(fd, real(fd));
}

int rename(const char* from, const char* to) noexcept {
  static const auto real = next<decltype(::rename)>("rename");
  const int result = real(from, to);
  if (result == 0 && is_watched(absolute(to))) {
    note("rename\t" + absolute(from) + "\t" + absolute(to));
  }
  return result;
}

int unlink(const char* path) noexcept {
  static const auto real = next<decltype(::unlink)>("unlink");
  const int result = real(path);
  if (result == 0 && is_watched(absolute(path))) note("remove\t" + absolute(path));
  return result;
}

int remove(const char* path) noexcept {
  static const auto real = next<decltype(::remove)>("remove");
  const int result = real(path);
  if (result == 0 && is_watched(absolute(path))) note("remove\t" + absolute(path));
  return result;
}
}
