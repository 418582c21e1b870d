#pragma once

#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <string>

namespace ucxbench {

/// Descriptors 0 to 2 that whoever started us has closed (`2>&-`) become /dev/null: else the next
/// file that is opened, a run file perhaps, would be what everybody prints to.
void open_standard_descriptors() noexcept;

/// Whoever started us wants to outlive its terminal (nohup).
bool ignores_hangups() noexcept;

/// From here on SIGINT, SIGTERM and SIGHUP (unless it is ignored) end this process at once, in
/// whatever phase it is, with Exit::interrupted and a line that says so. Where something is to be
/// brought to its end first, `Signals` (harness/launch) takes them over as long as it lives.
void end_at_once_on_signals();

/// Why this run has failed, "" for a new one. Until has_said_why() a signal's line gives it
/// instead: launchers send SIGTERM to who is left of a failed job, which would hide the reason.
void fails_as(const std::string& reason);

/// Its reason was printed: a signal's line would be a second one, and is left out.
void has_said_why();

/// The end of who has been asked to end, and has all that counts on disk: after so much processor
/// time of this process, from now on. It is not a time of day: on a busy machine the work that is
/// left is not cut short. Does nothing before end_at_once_on_signals. 0: no limit any more.
void end_within(std::chrono::milliseconds processor_time) noexcept;

/// The same after 10 s of the day, whatever this process waits for; for signal handlers. For good.
void end_at_latest() noexcept;

/// Ends this process now, and what a SignalCleanup names. Makes only system calls: for signal
/// handlers.
[[noreturn]] void end_at_once() noexcept;

/// Writes to stderr, on a line of its own whatever a terminal shows there; nothing where that would
/// have to wait for a reader. For signal handlers.
void say_at_once(const char* line) noexcept;

/// What shall not outlive this process when a signal ends it, as long as this lives.
class SignalCleanup {
 public:
  /// Of processes: its leader has a second to end by this signal, then what is left is killed.
  SignalCleanup(pid_t group, int signal);
  /// Not yet whole: removed. A folder, with the files in it.
  explicit SignalCleanup(const std::filesystem::path& file);
  ~SignalCleanup();
  SignalCleanup(const SignalCleanup&) = delete;
  SignalCleanup& operator=(const SignalCleanup&) = delete;

 private:
  std::string file_;
  std::size_t slot_;
};

}  // namespace ucxbench
