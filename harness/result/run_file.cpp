#include "harness/result/run_file.hpp"

#include <fmt/format.h>
#include <stdlib.h>

#include <system_error>
#include <utility>

#include "harness/core/failure.hpp"
#include "harness/core/units.hpp"
#include "harness/result/events.hpp"
#include "harness/result/file.hpp"
#include "harness/result/transfers.hpp"

namespace ucxbench {
namespace {

namespace fs = std::filesystem;

fs::path folder_of(const fs::path& file) {
  return file.has_parent_path() ? file.parent_path() : fs::path(".");
}

// A new one, too.
bool is_file(const fs::path& place) {
  std::error_code unknown;
  return !fs::exists(place, unknown) || fs::is_regular_file(place, unknown);
}

std::string size_text(std::uint64_t bytes) { return spaced_size(bytes >> 10U << 10U); }

}  // namespace

fs::path spare_place(const fs::path& name) {
  std::error_code error;
  auto folder = (fs::temp_directory_path(error) / "ucx-bench-XXXXXX").string();
  return error || ::mkdtemp(folder.data()) == nullptr ? fs::path() : fs::path(folder) / name;
}

fs::path stacks_file(const fs::path& run_file) {
  return fs::path(run_file).replace_extension(".stacks.txt");
}

RunFile::RunFile(Result& run, std::function<void(const std::string&)> say)
    : run_(run), asked_(run.file), file_(asked_), say_(std::move(say)), is_file_(is_file(asked_)) {}

fs::path RunFile::log() const { return transfers_file(file_); }

// All that is known, for a file that has a journal beside it.
std::string RunFile::so_far() {
  run_.run["journal"] = journal_of(file_).filename().string();
  auto text = run_text(run_);
  run_.run.erase("journal");
  return text;
}

// That, and a journal that has nothing more.
void RunFile::put_down(const std::string& so_far) {
  // First, since another run may be writing there.
  journal_.emplace(file_, run_);
  try {
    write_atomically(file_, so_far);
  } catch (const Failure&) {
    journal_->remove();
    journal_.reset();
    throw;
  }
}

void RunFile::begin(std::uint64_t more_bytes) {
  if (!is_file_) return;
  std::error_code unknown;
  const auto space = fs::space(folder_of(asked_), unknown);
  // The journal and the whole file are both there for a moment.
  const auto text = so_far();
  const auto needed = 2 * (text.size() + more_bytes);
  if (!unknown && space.available < needed) {
    throw Failure(Exit::usage,
                  fmt::format("'{}': {} are free there, and this run needs at least {}; free some, "
                              "or choose another path with --json",
                              asked_.string(), size_text(space.available), size_text(needed)));
  }
  put_down(text);
  fs::remove(stacks_file(file_), unknown);  // of an earlier run
}

void RunFile::add(const Json& event) {
  launches_ = {};
  apply_event(run_, event);
  if (!journal_ || file_.empty()) return;
  try {
    journal_->append(journal_line(run_, event));
    // Not each line of each rank: a disk may need milliseconds for it, while ranks wait.
    if (!event.contains("case") && !event.contains("part")) return;
    sync_log();
    journal_->sync();
  } catch (const Failure& failure) {
    move_on(failure.what());
  }
}

void RunFile::sync_log() {
  std::error_code absent;  // where it could not be taken along
  if (!std::exchange(log_is_synced_, true) && fs::exists(log(), absent)) sync_file(log());
}

void RunFile::append_transfers(std::span<const std::uint8_t> sections) {
  if (!is_file_) return;
  std::error_code ignored;
  if (!std::exchange(logs_, true)) {
    fs::remove(log(), ignored);  // of an earlier run into the file
    add({{"run", {{"transfers", transfers_file(asked_).filename().string()}}}});
  }
  to_some_place([&] { ucxbench::append_transfers(log(), sections); });
  log_is_synced_ = false;
}

fs::path RunFile::put_stacks(const std::string& text) {
  const auto attempt = [&](const fs::path& file) {
    try {
      write_atomically(file, text, NamedBy::program);
      return file;
    } catch (const Failure&) {
      return fs::path();
    }
  };
  if (journal_ && !file_.empty()) {
    if (auto written = attempt(stacks_file(file_)); !written.empty()) return written;
  }
  const auto spare = spare_place(stacks_file(asked_.filename()));
  return spare.empty() ? spare : attempt(spare);
}

Result RunFile::finish() {
  // Where there was no place for it, there may be again.
  if (file_.empty()) file_ = asked_;
  if (!launches_.valid()) begin_text();
  to_some_place([&, text = run_text(run_, std::move(launches_))] {
    sync_log();
    write_atomically(file_, text);
  });
  if (journal_) journal_->remove();
  auto written = as_its_file_has_it(std::move(run_));
  written.file = is_file(file_) ? file_ : fs::path();
  return written;
}

void RunFile::to_some_place(const std::function<void()>& write) {
  while (!file_.empty()) {
    try {
      return write();
    } catch (const Failure& failure) {
      move_on(failure.what());
    }
  }
}

void RunFile::move_on(const std::string& why) {
  const auto old = file_;
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
  auto old_journal = std::exchange(journal_, std::nullopt);
  if (old_journal) {
    try {
      put_down(so_far());
    } catch (const Failure& failure) {
      journal_ = std::move(old_journal);
      return move_on(failure.what());
    }
  }
  say_(fmt::format("{}: the run goes on in '{}'", why.substr(0, why.find("; choose")),
                   file_.string()));
  std::error_code error;
  // Where somebody has removed the journal, another run may have begun there.
  const bool others =
      old_journal && !old_journal->is_there() && fs::is_regular_file(journal_of(old), error);
  if (others) return;
  if (logs_ && fs::exists(old_log, error)) {
    fs::copy_file(old_log, log(), error);
    log_is_synced_ = false;
    if (error) {
      say_(fmt::format("'{}': {}; the transfer log begins anew", log().string(), error.message()));
    }
    fs::remove(old_log, error);
  }
  if (!old_journal) return;
  // What was written there is older, and not all.
  fs::remove(follow_links(old), error);
  old_journal->remove();
}

}  // namespace ucxbench
