#include "harness/result/journal.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <cerrno>
#include <utility>

#include "harness/core/failure.hpp"
#include "harness/core/files.hpp"
#include "harness/core/read_json.hpp"
#include "harness/result/events.hpp"
#include "harness/result/file.hpp"

namespace ucxbench {
namespace {

constexpr const char* journal_schema = "ucx-bench/journal/1";

Json head_of(const Result& run) {
  return {{"schema", journal_schema}, {"run", run.run.value("id", Json())}};
}

/// Takes the run's id out of the line. Older journals have none there.
bool is_of(const Result& run, Json& line) {
  if (!line.is_object() || !line.contains("of")) return true;
  const auto id = std::exchange(line["of"], Json());
  line.erase("of");
  return id == run.run.value("id", Json());
}

std::string line_of(const Json& json) { return json_text(json) + "\n"; }

/// Whether `path` still names the file that is open.
bool is_at(const std::filesystem::path& path, int fd) {
  struct stat named{};
  struct stat open{};
  return ::lstat(path.c_str(), &named) == 0 && ::fstat(fd, &open) == 0 &&
         named.st_dev == open.st_dev && named.st_ino == open.st_ino;
}

bool lock(int fd) { return ::flock(fd, LOCK_EX | LOCK_NB) == 0; }

[[noreturn]] void refuse_two_runs(const std::filesystem::path& journal, bool locked) {
  const auto head = json_or_null(first_line(journal));
  const bool named = head.is_object() && head.contains("run") && head.at("run").is_string();
  const auto other =
      named ? "run " + head.at("run").get<std::string>() : std::string("another run");
  const auto file = run_file_of(journal).string();
  throw Failure(
      Exit::usage,
      locked
          ? fmt::format("'{}' is being written by {}; choose another path with --json", file, other)
          : fmt::format("'{}' may be being written by {}, and this file system has no locks: "
                        "choose another path with --json, or remove '{}' if that run has ended",
                        file, other, journal.string()));
}

/// Removes what a run that was killed has left.
void remove_left(const std::filesystem::path& journal) {
  const Fd left(::open(journal.c_str(), O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!left) {
    if (errno == ENOENT) return;
    cannot_write(journal, errno);
  }
  struct stat what{};
  if (::fstat(left.get(), &what) != 0 || !S_ISREG(what.st_mode)) cannot_write(journal, EEXIST);
  if (!lock(left.get())) refuse_two_runs(journal, errno == EWOULDBLOCK);
  // It was removed before it was locked: what has its name now is another one's.
  if (is_at(journal, left.get())) ::unlink(journal.c_str());
}

/// Locked, where the file system has locks.
Fd new_journal(const std::filesystem::path& journal) {
  constexpr auto flags = O_WRONLY | O_APPEND | O_CREAT | O_EXCL | O_CLOEXEC;
  while (true) {
    Fd made(::open(journal.c_str(), flags, 0666));
    if (made) {
      const bool other_has_it = !lock(made.get()) && errno == EWOULDBLOCK;
      if (!other_has_it && is_at(journal, made.get())) return made;
    } else if (errno == EEXIST) {
      remove_left(journal);
    } else {
      cannot_write(journal, errno);
    }
  }
}

}  // namespace

std::filesystem::path journal_of(const std::filesystem::path& run_file) {
  return follow_links(run_file) += journal_suffix;
}

std::filesystem::path run_file_of(const std::filesystem::path& named) {
  const auto text = named.string();
  return text.ends_with(journal_suffix) ? text.substr(0, text.size() - journal_suffix.size())
                                        : text;
}

std::string journal_head(const Result& run) { return line_of(head_of(run)); }

std::string journal_line(const Result& run, const Json& event) {
  auto line = event;
  line["of"] = run.run.value("id", Json());
  return line_of(line);
}

void take_journal(Result& run, std::string_view text, const std::string& name) {
  run.run.erase("journal");
  std::size_t number = 0;
  try {
    for (auto end = text.find('\n'); end != std::string_view::npos; end = text.find('\n')) {
      ++number;
      auto line = read_json(text.substr(0, end));
      if (number == 1) {
        if (line != head_of(run)) return;
      } else if (is_of(run, line)) {
        apply_event(run, line);
      }
      text.remove_prefix(end + 1);
    }
    sum_up(run);
  } catch (const std::exception& error) {
    throw Failure(Exit::usage, fmt::format("'{}' is a damaged journal of a run (line {}: {}); "
                                           "remove it to read the run without it",
                                           name, number, in_one_line(why_not_json(error))));
  }
}

Journal::Journal(const std::filesystem::path& run_file, const Result& run)
    : file_(journal_of(run_file)), fd_(new_journal(file_)) {
  try {
    append(journal_head(run));
    sync();
    if (const int error = sync_folder_of(file_)) cannot_write(file_, error);
  } catch (const Failure&) {
    remove();
    throw;
  }
}

void Journal::append(std::string_view line) {
  if (!is_there()) cannot_write(file_, ENOENT);
  if (const int error = append_whole(fd_.get(), line)) cannot_write(file_, error);
}

void Journal::sync() {
  if (const int error = ucxbench::sync(fd_.get())) cannot_write(file_, error);
}

bool Journal::is_there() const { return is_at(file_, fd_.get()); }

void Journal::remove() {
  if (is_there()) ::unlink(file_.c_str());
  fd_.reset();
}

}  // namespace ucxbench
