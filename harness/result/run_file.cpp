#include "harness/result/run_file.hpp"

#include <fmt/format.h>
#include <stdlib.h>

#include <system_error>
#include <utility>

#include "harness/core/failure.hpp"
#include "harness/core/units.hpp"
#include "harness/result/result.hpp"
#include "harness/result/transfers.hpp"

namespace ucxbench {
namespace {

namespace fs = std::filesystem;

fs::path folder_of(const fs::path& file) {
  return file.has_parent_path() ? file.parent_path() : fs::path(".");
}

std::string size_text(std::uint64_t bytes) { return spaced_size(bytes >> 10U << 10U); }

}  // namespace

fs::path spare_place(const fs::path& name) {
  std::error_code error;
  auto folder = (fs::temp_directory_path(error) / "ucx-bench-XXXXXX").string();
  return error || ::mkdtemp(folder.data()) == nullptr ? fs::path() : fs::path(folder) / name;
}

RunFile::RunFile(fs::path file, std::function<void(const std::string&)> say)
    : asked_(std::move(file)), file_(asked_), say_(std::move(say)) {}

fs::path RunFile::log() const { return transfers_file(file_); }

std::string RunFile::transfers_name() const { return transfers_file(asked_).filename().string(); }

void RunFile::begin(const std::string& text, std::uint64_t more_bytes) {
  std::error_code unknown;
  const bool device = fs::exists(asked_, unknown) && !fs::is_regular_file(asked_, unknown);
  const auto space = fs::space(folder_of(asked_), unknown);
  // The old file and the new one are both there for a moment.
  const auto needed = 2 * (text.size() + more_bytes);
  if (!device && !unknown && space.available < needed) {
    throw Failure(Exit::usage,
                  fmt::format("'{}': {} are free there, and this run needs at least {}; free some, "
                              "or choose another path with --json",
                              asked_.string(), size_text(space.available), size_text(needed)));
  }
  write_atomically(asked_, text);
}

void RunFile::write(const std::string& text) {
  // Where there was no place for it, there may be again.
  if (file_.empty()) file_ = asked_;
  const bool before = at_its_place();
  for (;;) {
    try {
      write_atomically(file_, text);
      break;
    } catch (const Failure& failure) {
      move_on(failure.what());
      if (file_.empty()) return;
    }
  }
  // What was written there is older, and not all.
  std::error_code ignored;
  if (before && !at_its_place()) fs::remove(asked_, ignored);
}

void RunFile::append_transfers(std::span<const std::uint8_t> sections) {
  std::error_code ignored;
  if (!std::exchange(logs_, true)) fs::remove(log(), ignored);  // of an earlier run into the file
  while (!file_.empty()) {
    try {
      return ucxbench::append_transfers(log(), sections);
    } catch (const Failure& failure) {
      move_on(failure.what());
    }
  }
}

void RunFile::move_on(const std::string& why) {
  const auto old_log = log();
  why_moved_ = why;
  if (file_ == asked_ && elsewhere_.empty()) elsewhere_ = spare_place(asked_.filename());
  if (file_ != asked_ || elsewhere_.empty()) {
    file_.clear();
    if (!std::exchange(said_nowhere_, true)) {
      say_(fmt::format("{}; nothing is left on disk, but what was measured is shown at the end",
                       why));
    }
    return;
  }
  file_ = elsewhere_;
  say_(fmt::format("{}: the run goes on in '{}'", why.substr(0, why.find("; choose")),
                   file_.string()));
  std::error_code error;
  if (!logs_ || !fs::exists(old_log, error)) return;
  fs::copy_file(old_log, log(), error);
  if (error) {
    say_(fmt::format("'{}': {}; the transfer log begins anew", log().string(), error.message()));
  }
  fs::remove(old_log, error);
}

}  // namespace ucxbench
