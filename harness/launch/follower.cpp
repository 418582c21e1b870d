#include "harness/launch/follower.hpp"

#include <fmt/format.h>
#include <poll.h>

#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "harness/launch/local_rank.hpp"

namespace ucxbench {
namespace {

using Clock = std::chrono::steady_clock;
using State = LaunchOutcome::State;

// For the listening side to end the run that the user has ended on this one.
constexpr std::chrono::milliseconds soft_stop_limit{800};

class Follower {
 public:
  using CommandFor = std::function<RankCommand(const nlohmann::json&)>;

  Follower(RemoteSupervisor& remote, const CommandFor& command_for, Signals& signals)
      : remote_(remote), command_for_(command_for), signals_(signals) {}
  ~Follower() { end_rank(); }
  Follower(const Follower&) = delete;
  Follower& operator=(const Follower&) = delete;

  LaunchOutcome run();

 private:
  void wait();
  void handle(const nlohmann::json& frame);
  void start(const nlohmann::json& frame);
  void end_rank();
  void watch_rank(Clock::time_point now);
  void blame(const Blame& blame);

  RemoteSupervisor& remote_;
  const CommandFor& command_for_;
  Signals& signals_;
  StopCall stop_call_;
  std::optional<LocalRank> rank_;
  bool said_gone_ = false;
  std::optional<Clock::time_point> said_stop_;
  std::optional<LaunchOutcome> end_;
};

LaunchOutcome Follower::run() {
  const Signals::Waiting waiting(signals_);
  auto last_round = Clock::now();
  while (!end_) {
    wait();
    const auto now = Clock::now();
    signals_.collect();
    if (signals_.abort() || (said_stop_ && now - *said_stop_ > soft_stop_limit)) {
      remote_.send({{"type", "leave"}});
      return {State::interrupted, Exit::interrupted, signals_.reason()};
    }
    if (signals_.stop() && !said_stop_) {
      said_stop_ = now;
      remote_.send({{"type", "stop"}});
    }
    if (now - last_round > longest_watch_round) {
      remote_.forgive(now);
      if (rank_) rank_->forgive(now);
    }
    last_round = now;
    remote_.receive(now, [&](const auto& frame) { handle(frame); });
    if (rank_) watch_rank(now);
    if (const auto problem = remote_.problem(now); problem && !end_) {
      throw Failure(Exit::lost, *problem);
    }
  }
  return *end_;
}

void Follower::wait() {
  std::vector<pollfd> entries{{signals_.fd(), POLLIN, 0}, {remote_.fd(), POLLIN, 0}};
  if (rank_ && rank_->readable()) entries.push_back({rank_->fd(), POLLIN, 0});
  if (rank_) entries.push_back({rank_->output_fd(), POLLIN, 0});  // one that is -1 is left out
  ::poll(entries.data(), entries.size(), static_cast<int>(watch_tick.count()));
}

void Follower::handle(const nlohmann::json& frame) {
  const std::string type = frame.value("type", "");
  if (type == "launch") {
    start(frame);
  } else if (type == "stop") {
    stop_call_.call();
  } else if (type == "end") {
    end_rank();
    remote_.send({{"type", "ended"}});
  } else if (type == "goodbye") {
    const auto exit = static_cast<Exit>(frame.at("exit").get<int>());
    end_ = LaunchOutcome{exit == Exit::interrupted ? State::interrupted
                         : exit == Exit::lost      ? State::failed
                                                   : State::completed,
                         exit, frame.at("reason")};
  } else if (rank_) {
    try {
      rank_->send(frame);
    } catch (const Failure&) {
      return;  // dying, stopped or hung: watching it will say which
    }
  }
}

void Follower::start(const nlohmann::json& frame) {
  said_gone_ = false;
  try {
    rank_.emplace(command_for_(frame.at("launch")), frame.at("rank").get<int>(),
                  frame.at("size").get<int>(), stop_call_.fd());
  } catch (const Failure& failure) {
    blame({fmt::format("did not start: {}", failure.what()), failure.exit(), true});
  }
}

void Follower::end_rank() {
  if (!rank_) return;
  rank_->kill();
  rank_->reap(Clock::now() + reap_limit);
  if (!rank_->ended_well()) remove_leftovers(rank_->traces());
  rank_.reset();
}

void Follower::watch_rank(Clock::time_point now) {
  const auto relay = [&](const auto& frame) { remote_.send(frame); };
  std::optional<Blame> found;
  try {
    rank_->pass_on_output(relay);
    rank_->receive(now, relay);
    found = rank_->look(now, relay);
    if (!found) found = rank_->check(now, [] { return stopped_process_groups(); });
  } catch (const Failure& failure) {
    if (remote_.ended()) throw;
    found = Blame{failure.what(), failure.exit(), false};
  }
  if (found) {
    blame(*found);
  } else if (rank_->gone() && !std::exchange(said_gone_, true)) {
    remote_.send({{"type", "gone"}});
  }
}

void Follower::blame(const Blame& blame) {
  remote_.send({{"type", "blame"},
                {"text", blame.text},
                {"exit", static_cast<int>(blame.exit)},
                {"root_cause", blame.root_cause}});
}

}  // namespace

LaunchOutcome follow_launches(
    RemoteSupervisor& remote,
    const std::function<RankCommand(const nlohmann::json& launch)>& command_for, Signals& signals) {
  try {
    return Follower(remote, command_for, signals).run();
  } catch (const Failure& failure) {
    return {State::failed, failure.exit(), failure.what()};
  }
}

}  // namespace ucxbench
