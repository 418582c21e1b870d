#include "harness/launch/remote.hpp"

#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <utility>

#include "harness/core/clock.hpp"

namespace ucxbench {
namespace {

using std::chrono::milliseconds;

// Of an end that is waited for, how often is looked.
constexpr milliseconds end_tick{500};
constexpr milliseconds remote_silence_limit{2500};
constexpr milliseconds clock_limit{1000};
// One that nothing delays is likely among them.
constexpr int clock_trips = 16;

void send_at_once(int fd) {
  const int on = 1;
  ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}
}  // namespace

RemoteSupervisor::RemoteSupervisor(Fd connection, Greeted greeted)
    : channel_(std::move(connection), std::move(greeted.seals)), host_(std::move(greeted.host)) {
  send_at_once(channel_.fd());
  pulses_->begin(channel_);
}

RemoteSupervisor::~RemoteSupervisor() { pulses_->end(channel_); }

void RemoteSupervisor::send(const Channel::Frame& frame) {
  try {
    channel_.send(frame, remote_silence_limit);
  } catch (const Failure& failure) {
    // As problem() says it, which sees the same end where nothing is sent.
    if (channel_.closed()) {
      throw Failure(failure.exit(), fmt::format("{} closed the control connection", host_));
    }
    throw Failure(failure.exit(), fmt::format("{}: {}", host_, failure.what()));
  }
}

void RemoteSupervisor::receive(Clock::time_point now, const OnFrame& on_frame) {
  try {
    for (const auto& frame : std::exchange(early_, {})) on_frame(frame);
    while (auto frame = next_frame()) {
      last_heard_ = now;
      const auto type = frame->value("type", "");
      if (type == "hello") {
        hello_ = std::move(*frame);
      } else if (type != "pulse") {
        on_frame(*frame);
      }
    }
    if (std::exchange(pending_bytes_, channel_.pending_bytes()) != channel_.pending_bytes()) {
      last_heard_ = now;
    }
  } catch (const nlohmann::json::exception& error) {
    throw Failure(Exit::lost, fmt::format("{} sent a malformed message ({})", host_, error.what()));
  }
}

std::optional<Channel::Frame> RemoteSupervisor::next_frame() try {
  return channel_.receive();
} catch (const Failure& failure) {
  throw Failure(failure.exit(), fmt::format("{}: {}", host_, failure.what()));
}

std::optional<std::string> RemoteSupervisor::problem(Clock::time_point now) const {
  if (channel_.ended()) return fmt::format("{} closed the control connection", host_);
  if (now - last_heard_ <= remote_silence_limit) return std::nullopt;
  return fmt::format("nothing was heard from {} for {:g} s", host_,
                     static_cast<double>(remote_silence_limit.count()) / 1000);
}

template <typename IsIt>
bool RemoteSupervisor::await(Clock::time_point deadline, const IsIt& is_it) {
  bool came = false;
  const auto look = [&] {
    receive(Clock::now(), [&](const Channel::Frame& frame) { came |= is_it(frame); });
  };
  look();  // what it said while this side was busy is no silence
  while (!came && !problem(Clock::now()) && Clock::now() < deadline) {
    channel_.wait(std::min(end_tick, std::chrono::ceil<milliseconds>(deadline - Clock::now())));
    look();
  }
  return came;
}

/// Of the last question; anything else is kept for who asks next. False when none came.
template <typename Take>
bool RemoteSupervisor::await_answer(Clock::time_point deadline, Take take) {
  std::vector<Channel::Frame> others;
  const bool came = await(deadline, [&](const Channel::Frame& frame) {
    const bool answers = frame.value("type", "") == "answer";
    if (!answers) others.push_back(frame);
    if (!answers || frame.value("number", -1) != question_) return false;
    take(frame);
    return true;
  });
  std::ranges::move(others, std::back_inserter(early_));
  return came;
}

void RemoteSupervisor::ask(const nlohmann::json& question) {
  send({{"type", "ask"}, {"number", ++question_}, {"question", question}});
}

std::optional<nlohmann::json> RemoteSupervisor::answer(Clock::time_point deadline) {
  std::optional<nlohmann::json> found;
  await_answer(deadline, [&](const Channel::Frame& frame) { found = frame.at("answer"); });
  return found;
}

std::optional<ClockOffset> RemoteSupervisor::ask_clock() {
  std::optional<ClockOffset> found;
  const auto asked_ns = monotonic_ns();
  send({{"type", "clock"}, {"number", ++question_}});
  await_answer(Clock::now() + clock_limit, [&](const Channel::Frame& frame) {
    const auto half_ns = (monotonic_ns() - asked_ns + 1) / 2;
    const auto there_ns = frame.at("ns").get<std::uint64_t>();
    found = {.at_ns = asked_ns + half_ns,
             .offset_ns = static_cast<std::int64_t>(there_ns - asked_ns - half_ns),
             .uncertainty_ns = half_ns};
  });
  return found;
}

std::optional<ClockOffset> RemoteSupervisor::clock_offset() {
  std::optional<ClockOffset> best;
  try {
    for (int trip = 0; trip < clock_trips; ++trip) {
      const auto found = ask_clock();
      if (!found) return std::nullopt;
      if (!best || found->uncertainty_ns < best->uncertainty_ns) best = found;
    }
  } catch (const Failure&) {
    return std::nullopt;  // whoever speaks to it next finds the same
  }
  return best;
}

void RemoteSupervisor::begin_end() { send({{"type", "end"}}); }

void RemoteSupervisor::await_end(Clock::time_point deadline) {
  const auto is_end = [](const Channel::Frame& frame) {
    return frame.value("type", "") == "ended";
  };
  if (!await(deadline, is_end)) {
    throw Failure(Exit::lost, fmt::format("{} did not end its ranks", host_));
  }
}

void RemoteSupervisor::complain(const std::string& what) noexcept {
  try {
    channel_.send({{"type", "complaint"}, {"text", what}}, remote_silence_limit);
  } catch (const std::exception&) {
    return;  // it is gone already, or sees the connection end
  }
}

void RemoteSupervisor::say_goodbye(Exit exit, const std::string& reason) noexcept {
  try {
    channel_.send({{"type", "goodbye"}, {"exit", static_cast<int>(exit)}, {"reason", reason}},
                  remote_silence_limit);
  } catch (const std::exception&) {
    return;  // it is gone already, or sees the connection end
  }
}

}  // namespace ucxbench
