#include "harness/launch/local_rank.hpp"

#include <fmt/format.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <cstring>
#include <ctime>
#include <string>
#include <thread>
#include <utility>

#include "harness/core/files.hpp"
#include "harness/launch/oom_kills.hpp"
#include "harness/launch/processes.hpp"
#include "harness/launch/stacks.hpp"

namespace ucxbench {
namespace {

using std::chrono::milliseconds;

// Both leave room for the reaction within 3 s of the stop; a shorter pause is forgiven.
constexpr milliseconds stop_limit{1500};
constexpr milliseconds local_silence_limit{2000};
// A rank that is not stopped may be starved by a busy host for longer.
constexpr milliseconds starvation_limit{20'000};
// From the end of a connection to the death of its process: longer only under a wrapper.
constexpr milliseconds death_limit{500};

constexpr int least_urgent = 19;  // setpriority(2)

// A shell's status for a command that a signal has killed (POSIX: above 128; all shells: 128 and
// the signal).
constexpr int killed_by_signal = 128;

// A library may well abort because its peer is gone. And an exit status above 128 + the last signal
// says no signal: with 255 exits many a program that has lost its peer.
bool comes_from_outside(int signal) {
  return signal > 0 && signal <= SIGRTMAX && signal != SIGABRT;
}

// The kernel tells nobody else for what it killed. A wrapper passes the signal on as a status.
std::string by_oom_killer(const siginfo_t& info, const std::optional<OomKills>& before) {
  const bool killed = info.si_code == CLD_EXITED ? info.si_status == killed_by_signal + SIGKILL
                                                 : info.si_status == SIGKILL;
  const auto now = killed ? oom_kills() : std::nullopt;
  if (!now || now->count <= (before ? before->count : 0)) return "";
  return fmt::format(
      " by the kernel's OOM killer (the counter of cgroup '{}' grew): give it more memory, or "
      "measure "
      "with less",
      now->cgroup);
}

Blame death(const siginfo_t& info) {
  if (info.si_code == CLD_EXITED) {
    return {info.si_status == 0 ? "exited with status 0 before its work was done"
                                : fmt::format("exited with status {}", info.si_status),
            Exit::lost, comes_from_outside(info.si_status - killed_by_signal)};
  }
  const char* name = sigdescr_np(info.si_status);
  return {fmt::format("was killed by signal {} ({})", info.si_status, name == nullptr ? "?" : name),
          Exit::lost, comes_from_outside(info.si_status)};
}

}  // namespace

std::set<pid_t> stopped_process_groups() {
  std::set<pid_t> groups;
  for (const auto& process : all_processes()) {
    if (process.state == 'T') groups.insert(process.group);
  }
  return groups;
}

std::optional<pid_t> changed_child() {
  siginfo_t info{};
  const int found = ::waitid(P_ALL, 0, &info, WEXITED | WSTOPPED | WCONTINUED | WNOHANG | WNOWAIT);
  if (found != 0 || info.si_pid == 0) return std::nullopt;
  return info.si_pid;
}

LocalRank::LocalRank(const RankCommand& command, int rank, int size, int stop_fd,
                     const GivenUp& given_up)
    : rank_(rank),
      traces_{{}, {shared_memory_folder(command.environment)}, std::time(nullptr)},
      channel_([&] {
        auto process = spawn_rank(command, rank, size, stop_fd, given_up);
        pid_ = process.pid;
        output_.emplace(std::move(process.output));
        return std::move(process.control);
      }()) {
  traces_.creators.push_back(pid_);
}

LocalRank::~LocalRank() {
  kill();
  reap(Clock::now() + reap_limit);
}

RankOutput::OnWarning LocalRank::to_frames(const OnFrame& on_frame) {
  return [&on_frame](const std::string& line) { on_frame({{"type", "warning"}, {"line", line}}); };
}

void LocalRank::receive(Clock::time_point now, const OnFrame& on_frame) {
  while (auto frame = channel_.receive()) {
    last_heard_ = now;
    note(*frame);
    on_frame(std::move(*frame));
  }
  if (channel_.ended() && !ended_since_) ended_since_ = now;
}

void LocalRank::note(const Channel::Frame& frame) try {
  const std::string type = frame.value("type", "");
  finished_ = finished_ || type == "finish";
  failed_ = failed_ || type == "fail";
  reported_ = reported_ || type == "reported";
  // Under a wrapper that forks it is another process than `pid_`.
  if (frame.contains("pid") && frame.value("pid_namespace", "") == own_namespace("pid")) {
    traces_.creators.push_back(frame.value("pid", pid_));
  }
} catch (const nlohmann::json::exception& error) {
  throw Failure(Exit::lost, fmt::format("a malformed message: {}", error.what()));
}

std::optional<Blame> LocalRank::check(Clock::time_point now,
                                      const std::function<std::set<pid_t>()>& stopped_groups) {
  if (reaped_) return std::nullopt;
  if (stop_signal_ != 0) {
    if (now - stopped_since_ <= stop_limit) return std::nullopt;
    return once(Blame{
        fmt::format("was stopped by signal {} (SIG{})", stop_signal_, sigabbrev_np(stop_signal_)),
        Exit::lost, true, true});
  }
  if (finished_ || failed_) return std::nullopt;
  if (ended_since_) {
    if (now - *ended_since_ <= death_limit) return std::nullopt;
    return once(Blame{"closed its control connection"});
  }
  if (!last_heard_ || now - *last_heard_ <= local_silence_limit) return std::nullopt;
  if (stopped_groups().contains(pid_)) {
    return once(Blame{
        fmt::format("gave no sign of life for {} s: stopped", local_silence_limit.count() / 1000),
        Exit::lost, false, true});
  }
  if (now - *last_heard_ <= starvation_limit) return std::nullopt;
  return once(Blame{fmt::format("gave no sign of life for {} s", starvation_limit.count() / 1000),
                    Exit::lost, false, true});
}

std::optional<Blame> LocalRank::once(Blame blame) {
  if (std::exchange(blamed_, true)) return std::nullopt;
  return blame;
}

std::optional<Blame> LocalRank::look(Clock::time_point now, const OnFrame& on_frame) {
  if (reaped_) return std::nullopt;
  auto blame = take_exit(now, on_frame);
  if (!reaped_) take_stops(now);
  return blame;
}

std::optional<Blame> LocalRank::take_exit(Clock::time_point now, const OnFrame& on_frame) {
  siginfo_t info{};
  const auto id = static_cast<id_t>(pid_);
  if (::waitid(P_PID, id, &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid == 0) {
    return std::nullopt;
  }
  // While it is unreaped its number cannot name anybody else's group. What is left of the group is
  // a rank whose wrapper was killed.
  ::kill(-pid_, SIGKILL);
  ::waitid(P_PID, id, &info, WEXITED);
  reaped_ = true;
  output_->finish(to_frames(on_frame));
  try {
    if (!channel_.ended()) receive(now, on_frame);  // its last words
  } catch (const Failure&) {
    ended_since_ = now;  // a sentence torn by its death, which says more
  }
  const bool clean = info.si_code == CLD_EXITED && info.si_status == 0;
  ended_well_ = clean && finished_;
  if (failed_ || ended_well_) return std::nullopt;
  auto blame = death(info);
  blame.text += by_oom_killer(info, oom_kills_before_);
  blame.after_all = finished_;
  return once(std::move(blame));
}

void LocalRank::take_stops(Clock::time_point now) {
  siginfo_t info{};
  while (::waitid(P_PID, static_cast<id_t>(pid_), &info, WSTOPPED | WCONTINUED | WNOHANG) == 0 &&
         info.si_pid != 0) {
    stop_signal_ = info.si_code == CLD_STOPPED ? info.si_status : 0;
    stopped_since_ = now;
    if (last_heard_) last_heard_ = now;
    info = {};
  }
}

bool LocalRank::death_to_come() const {
  const auto own = traces_.creators.back();
  return !reaped_ && !finished_ && !failed_ && !blamed_ && own != pid_ && is_over(own);
}

void LocalRank::forgive(Clock::time_point now) {
  stopped_since_ = now;
  if (last_heard_) last_heard_ = now;
}

std::string LocalRank::stacks(Clock::time_point deadline) const {
  return reaped_ ? "" : stacks_of_group(pid_, deadline);
}

void LocalRank::kill() {
  if (!reaped_) ::kill(-pid_, SIGKILL);
}

void LocalRank::give_way() const {
  if (!reaped_) ::setpriority(PRIO_PGRP, static_cast<id_t>(pid_), least_urgent);
}

bool LocalRank::reap(Clock::time_point deadline) {
  while (!reaped_) {
    siginfo_t info{};
    reaped_ =
        ::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG) == 0 && info.si_pid != 0;
    if (reaped_) break;
    if (Clock::now() > deadline) return false;
    std::this_thread::sleep_for(milliseconds(2));
  }
  output_->finish([](const std::string&) {});
  return true;
}

}  // namespace ucxbench
