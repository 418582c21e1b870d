#include "harness/launch/follower.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "harness/core/clock.hpp"
#include "harness/launch/events.hpp"
#include "harness/launch/local_ranks.hpp"

namespace ucxbench {
namespace {

using Clock = std::chrono::steady_clock;
using State = LaunchOutcome::State;

// For the listening side to end the run that the user has ended on this one.
constexpr std::chrono::milliseconds soft_stop_limit{800};

constexpr Events::Tag remote_tag = 1;

// Of a launch; more than there will be.
constexpr int most_ranks = 1 << 16;

class Follower {
 public:
  Follower(RemoteSupervisor& remote, const CommandsFor& commands_for, const Answer& answer,
           Signals& signals)
      : remote_(remote), commands_for_(commands_for), answer_(answer), signals_(signals) {
    events_.watch(signals.fd(), LocalRanks::signals_tag);
    events_.watch(remote.fd(), remote_tag);
  }
  ~Follower() { end_ranks(); }
  Follower(const Follower&) = delete;
  Follower& operator=(const Follower&) = delete;

  LaunchOutcome run();

 private:
  void round();
  LaunchOutcome interrupted() const {
    return {State::interrupted, Exit::interrupted, signals_.reason()};
  }
  void handle(const nlohmann::json& frame);
  void start(const nlohmann::json& frame);
  void end_ranks();
  void pass_on(int rank, const nlohmann::json& said);
  void watch_ranks(Clock::time_point now, bool children_changed);
  void say_who_is_gone();
  void blame(int rank, const Blame& blame);

  RemoteSupervisor& remote_;
  const CommandsFor& commands_for_;
  const Answer& answer_;
  Signals& signals_;
  StopCall stop_call_;
  Events events_;
  std::optional<LocalRanks> ranks_;
  std::set<int> said_gone_;
  nlohmann::json preset_;                   ///< values that any rank may get, by their keys
  std::map<int, nlohmann::json> activity_;  ///< by rank, as last heard
  std::optional<Clock::time_point> said_stop_;
  std::optional<LaunchOutcome> end_;
  Clock::time_point last_round_ = Clock::now();
  Clock::time_point next_check_ = Clock::now();
};

LaunchOutcome Follower::run() {
  const Signals::Waiting waiting(signals_);
  while (!end_) {
    round();
    const auto now = Clock::now();
    if (signals_.abort() || (said_stop_ && now - *said_stop_ > soft_stop_limit)) {
      remote_.send({{"type", "leave"}});
      return interrupted();
    }
    if (signals_.stop() && !said_stop_) {
      said_stop_ = now;
      remote_.send({{"type", "stop"}});
    }
    if (const auto problem = remote_.problem(now); problem && !end_) {
      if (said_stop_) return interrupted();
      throw Failure(Exit::lost, *problem);
    }
  }
  return *end_;
}

void Follower::round() {
  const auto ready = events_.wait(watch_tick);
  const auto now = Clock::now();
  const bool children_changed = signals_.collect();
  if (now - last_round_ > longest_watch_round) {
    remote_.forgive(now);
    if (ranks_) ranks_->forgive(now);
  }
  last_round_ = now;
  // Before what the listener says, which may end them.
  for (const auto tag : ready) {
    if ((tag & LocalRanks::tag_bit) != 0 && ranks_) ranks_->take(tag, now);
  }
  if (ranks_) watch_ranks(now, children_changed);
  remote_.receive(now, [&](const auto& frame) { handle(frame); });
  // To start or end many ranks takes seconds, in which this side does not listen.
  if (Clock::now() - now > longest_watch_round) remote_.forgive(Clock::now());
}

void Follower::handle(const nlohmann::json& frame) {
  const std::string type = frame.value("type", "");
  if (type == "launch") {
    start(frame);
  } else if (type == "stop") {
    stop_call_.call();
  } else if (type == "end") {
    end_ranks();
    remote_.send({{"type", "ended"}});
  } else if (type == "goodbye") {
    const auto exit = exit_of(frame.at("exit").get<int>());
    end_ = LaunchOutcome{exit == Exit::interrupted ? State::interrupted
                         : exit == Exit::lost      ? State::failed
                                                   : State::completed,
                         exit, frame.at("reason").get<std::string>()};
    end_->said_there = true;
  } else if (type == "stacks") {
    const auto rank = frame.at("rank").get<int>();
    const std::chrono::milliseconds limit(frame.at("limit_ms").get<int>());
    remote_.send(
        {{"type", "stacks"}, {"rank", rank}, {"text", ranks_ ? ranks_->stacks(rank, limit) : ""}});
  } else if (type == "clock") {
    remote_.send({{"type", "answer"}, {"number", frame.at("number")}, {"ns", monotonic_ns()}});
  } else if (type == "ask") {
    remote_.send({{"type", "answer"},
                  {"number", frame.at("number")},
                  {"answer", answer_(frame.at("question"))}});
  } else if (type == "rank" && ranks_) {
    ranks_->send(frame.at("rank").get<int>(), frame.at("frame"));
  }
}

void Follower::start(const nlohmann::json& frame) {
  const auto numbers = frame.at("ranks").get<std::vector<int>>();
  const auto size = frame.at("size").get<int>();
  const auto is_rank = [&](int rank) { return rank >= 0 && rank < size; };
  const bool all_differ = std::set(numbers.begin(), numbers.end()).size() == numbers.size();
  if (size > most_ranks || numbers.empty() || !std::ranges::all_of(numbers, is_rank) ||
      !all_differ) {
    throw Failure(Exit::lost, fmt::format("{} asked for impossible ranks", remote_.host()));
  }
  end_ranks();
  said_gone_.clear();
  activity_.clear();
  preset_ = frame.at("preset");
  ranks_.emplace(
      events_, size, [this](int rank, const nlohmann::json& said) { pass_on(rank, said); },
      [this](int rank, const Blame& found) { blame(rank, found); });
  std::size_t at = 0;
  try {
    const auto commands = commands_for_(frame.at("told"), static_cast<int>(numbers.size()));
    for (; at < numbers.size(); ++at) {
      ranks_->start(commands.at(at), numbers[at], stop_call_.fd(),
                    [this] { return signals_.stop(); });
    }
  } catch (const Failure& failure) {
    blame(numbers.at(at), {fmt::format("did not start: {}", failure.what()), failure.exit(), true});
  }
}

// That it lives is known here, and so is what all ranks get; the listener wants to know that it
// does something.
void Follower::pass_on(int rank, const nlohmann::json& said) {
  const auto type = said.value("type", "");
  if (type == "get" && preset_.contains(said.value("key", ""))) {
    ranks_->send(rank, {{"type", "value"}, {"value", preset_.at(said.value("key", ""))}});
    return;
  }
  const auto activity = said.find("activity");
  if (type == "heartbeat" && activity != said.end()) {
    auto& known = activity_[rank];
    if (std::exchange(known, *activity) == *activity) return;
  }
  remote_.send({{"type", "rank"}, {"rank", rank}, {"frame", said}});
}

void Follower::end_ranks() {
  if (ranks_) ranks_->end(signals_.stop());
  ranks_.reset();
}

void Follower::watch_ranks(Clock::time_point now, bool children_changed) {
  const bool due = now >= next_check_;
  if (children_changed || due) ranks_->look(now);
  if (due) {
    next_check_ = now + watch_tick;
    ranks_->check(now);
  }
  if (children_changed || due) say_who_is_gone();
}

void Follower::say_who_is_gone() {
  for (const auto& rank : ranks_->all()) {
    if (!rank->gone() || !said_gone_.insert(rank->rank()).second) continue;
    remote_.send({{"type", "gone"}, {"rank", rank->rank()}});
  }
}

void Follower::blame(int rank, const Blame& blame) {
  remote_.send({{"type", "blame"},
                {"rank", rank},
                {"text", blame.text},
                {"exit", static_cast<int>(blame.exit)},
                {"root_cause", blame.root_cause},
                {"hung", blame.hung},
                {"after_all", blame.after_all}});
}

}  // namespace

LaunchOutcome follow_launches(RemoteSupervisor& remote, const CommandsFor& commands_for,
                              const Answer& answer, Signals& signals) {
  LaunchOutcome outcome{State::failed, Exit::lost, ""};
  try {
    return Follower(remote, commands_for, answer, signals).run();
  } catch (const Failure& failure) {
    outcome.exit = failure.exit();
    outcome.reason = failure.what();
  } catch (const nlohmann::json::exception& error) {
    outcome.reason = fmt::format("{} sent a malformed message ({})", remote.host(), error.what());
  }
  remote.complain(outcome.reason);
  return outcome;
}

}  // namespace ucxbench
