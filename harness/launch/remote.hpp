#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/core/failure.hpp"
#include "harness/core/fd.hpp"
#include "harness/launch/channel.hpp"
#include "harness/launch/handshake.hpp"
#include "harness/launch/pulses.hpp"
#include "harness/launch/signals.hpp"

namespace ucxbench {

/// By how much the clock (CLOCK_MONOTONIC) of another host is ahead of this one's at a time. The
/// answer of a question was made somewhere between its sending and its arrival: halfway, to half of
/// the time between.
struct ClockOffset {
  std::uint64_t at_ns = 0;  ///< by this host's clock
  std::int64_t offset_ns = 0;
  std::uint64_t uncertainty_ns = 0;
};

/// The authenticated supervisor of another host of a `--listen` / `--connect` run, which is told
/// all the time that this host lives.
class RemoteSupervisor {
 public:
  using Clock = std::chrono::steady_clock;
  using OnFrame = std::function<void(const Channel::Frame&)>;

  RemoteSupervisor(Fd connection, Greeted greeted);
  ~RemoteSupervisor();
  RemoteSupervisor(const RemoteSupervisor&) = delete;
  RemoteSupervisor& operator=(const RemoteSupervisor&) = delete;

  const std::string& host() const { return host_; }
  /// By what the host is named from now on.
  void call(std::string host) { host_ = std::move(host); }
  /// What the connecting side has said of itself, when the listener has it; null until then.
  const nlohmann::json& hello() const { return hello_; }
  int fd() const { return channel_.fd(); }
  bool ended() const { return channel_.ended(); }

  /// Throws Failure(Exit::lost) that names the host, as `receive` does.
  void send(const Channel::Frame& frame);
  void receive(Clock::time_point now, const OnFrame& on_frame);

  /// What is wrong with the connection, if anything: it ended, or was silent for more than 2.5 s.
  std::optional<std::string> problem(Clock::time_point now) const;
  void forgive(Clock::time_point now) { last_heard_ = now; }

  /// Of several round trips the shortest; only between launches. Empty where the other side does
  /// not answer within a second, or is gone.
  std::optional<ClockOffset> clock_offset();

  /// Asks for what takes time there, only between launches; answer() waits for it. Throws
  /// Failure(Exit::lost).
  void ask(const nlohmann::json& question);
  /// Empty where none has come by `deadline`.
  std::optional<nlohmann::json> answer(Clock::time_point deadline);

  /// Ends the peer's ranks of the current launch; await_end() waits until they are gone. Nothing of
  /// that launch comes after. Throw Failure(Exit::lost), when it is not by `deadline`, too.
  void begin_end();
  void await_end(Clock::time_point deadline);

  /// Tells the first host why this one ends, which would only see that it does. Best effort.
  void complain(const std::string& what) noexcept;
  /// Lets the other supervisor end with this status and reason. Best effort.
  void say_goodbye(Exit exit, const std::string& reason) noexcept;

 private:
  std::optional<Channel::Frame> next_frame();
  std::optional<ClockOffset> ask_clock();
  /// Whether a frame came that `is_it`, before `deadline` and while nothing is wrong.
  template <typename IsIt>
  bool await(Clock::time_point deadline, const IsIt& is_it);
  template <typename Take>
  bool await_answer(Clock::time_point deadline, Take take);

  Channel channel_;
  std::string host_;
  nlohmann::json hello_;
  Clock::time_point last_heard_ = Clock::now();
  std::size_t pending_bytes_ = 0;
  int question_ = 0;                   ///< number of the last one
  std::vector<Channel::Frame> early_;  ///< came while something else was waited for
  std::shared_ptr<Pulses> pulses_ = Pulses::shared();
};

/// The other hosts of a run, in the order of their numbers: the first is host 1.
using RemoteSupervisors = std::vector<std::unique_ptr<RemoteSupervisor>>;

}  // namespace ucxbench
