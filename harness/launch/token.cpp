#include "harness/launch/token.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <optional>

#include "harness/core/failure.hpp"
#include "harness/core/fd.hpp"
#include "harness/core/text.hpp"
#include "harness/launch/environment.hpp"

namespace ucxbench {
namespace {

// An eavesdropper can try guesses against a recorded handshake, so a token must not be guessable.
constexpr std::size_t min_characters = 16;
constexpr std::size_t max_characters = 1024;
constexpr std::size_t random_bytes = 32;

std::string checked(std::string token, const std::string& source) {
  while (!token.empty() && std::strchr(" \t\r\n", token.back()) != nullptr) token.pop_back();
  if (token.size() < min_characters || token.size() > max_characters) {
    throw Failure(Exit::usage, fmt::format("the token in {} has {} characters: {} to {} are needed",
                                           source, token.size(), min_characters, max_characters));
  }
  return token;
}

/// None when there is no such file.
std::optional<std::string> read_token(const std::filesystem::path& path) {
  const Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file && errno == ENOENT) return std::nullopt;
  struct stat info{};
  if (!file || ::fstat(file.get(), &info) != 0) {
    throw Failure(Exit::usage, fmt::format("cannot read the token file {}: {}", path.native(),
                                           std::strerror(errno)));
  }
  if (!S_ISREG(info.st_mode) || (info.st_mode & 077) != 0 ||
      (info.st_uid != ::geteuid() && info.st_uid != 0)) {
    throw Failure(Exit::usage, fmt::format("the token file {} is open to other users: it must be "
                                           "yours, with mode 0600 (chmod 600)",
                                           path.native()));
  }
  std::string text(max_characters + 2, '\0');
  const ssize_t n = ::read(file.get(), text.data(), text.size());
  text.resize(n > 0 ? static_cast<std::size_t>(n) : 0);
  return checked(std::move(text), path.native());
}

/// False when the file has come into being meanwhile. It gets its name when it is whole: another
/// process may read it at any time.
bool write_token(const std::filesystem::path& path, const std::string& token) {
  const auto folder = path.parent_path();
  std::error_code ignored;  // a folder that cannot be made shows in mkostemp()
  if (!folder.empty()) std::filesystem::create_directories(folder, ignored);
  std::string unnamed = path.native() + ".XXXXXX";
  const Fd file(::mkostemp(unnamed.data(), O_CLOEXEC));  // with mode 0600
  const std::string line = token + "\n";
  const bool written =
      file && ::write(file.get(), line.data(), line.size()) == static_cast<ssize_t>(line.size());
  const bool linked = written && ::link(unnamed.c_str(), path.c_str()) == 0;
  const int error = errno;
  if (file) ::unlink(unnamed.c_str());
  if (linked) return true;
  if (written && error == EEXIST) return false;
  throw Failure(Exit::usage, fmt::format("cannot write the token file {}: {}", path.native(),
                                         std::strerror(error)));
}

std::filesystem::path path_of(const std::filesystem::path& file) {
  return file.empty() ? default_token_path() : file;
}

std::optional<std::string> find_token(const std::filesystem::path& file) {
  const std::string given = environment_variable("UCXBENCH_TOKEN");
  if (file.empty() && !given.empty()) return checked(given, "UCXBENCH_TOKEN");
  return read_token(path_of(file));
}

}  // namespace

std::string fresh_token() {
  std::array<std::uint8_t, random_bytes> bytes{};
  if (::getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) {
    throw Failure(Exit::cannot_run, "the system gives no random bytes for a token");
  }
  return hex_text(bytes);
}

std::filesystem::path default_token_path() {
  // The standard says to ignore a relative XDG_CONFIG_HOME.
  std::filesystem::path base = environment_variable("XDG_CONFIG_HOME");
  if (!base.is_absolute()) base = std::filesystem::path(environment_variable("HOME")) / ".config";
  if (!base.is_absolute()) {
    throw Failure(Exit::usage, "HOME is not set: say where the token is with --token-file");
  }
  return base / "ucx-bench" / "token";
}

std::string load_token(const std::filesystem::path& file) {
  if (auto token = find_token(file)) return *token;
  throw Failure(Exit::usage, fmt::format("no token: copy the listener's token file (it names it "
                                         "when it starts) to {} with mode 0600, or set "
                                         "UCXBENCH_TOKEN to its content",
                                         path_of(file).native()));
}

std::string load_or_create_token(const std::filesystem::path& file) {
  if (auto token = find_token(file)) return *token;
  std::string token = fresh_token();
  return write_token(path_of(file), token) ? token : load_token(file);
}

}  // namespace ucxbench
