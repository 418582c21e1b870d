#include "harness/launch/supervisor.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>
#include <set>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "harness/launch/events.hpp"
#include "harness/launch/host_name.hpp"
#include "harness/launch/local_rank.hpp"

namespace ucxbench {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

// After a root cause, the time in which others may still show; and after what may be but the
// consequence of one, the time in which it may: a busy machine's wrapper reports its rank's death
// later than the other rank misses it.
constexpr milliseconds settle_time{100};
constexpr milliseconds search_time{400};
constexpr milliseconds settle_tick{10};
// For ranks to report what they have finished, when the user ends the run.
constexpr milliseconds report_limit{500};

// What a descriptor is, with the rank's number below it.
enum class Source : std::uint8_t { signals, remote, control, output };
constexpr Events::Tag tag_of(Source source, int rank = 0) {
  return static_cast<Events::Tag>(source) << 32U | static_cast<std::uint32_t>(rank);
}

class Supervisor {
 public:
  Supervisor(const Launch& launch, Signals& signals, RemoteSupervisor* remote)
      : launch_(launch),
        signals_(signals),
        remote_(remote),
        size_(static_cast<int>(launch.ranks.size()) + (remote == nullptr ? 0 : 1)),
        hub_(size_, launch.preset, launch.on_report),
        seen_(static_cast<std::size_t>(size_)) {}

  LaunchOutcome run();

 private:
  using State = LaunchOutcome::State;

  struct Seen {
    std::uint64_t progress = 0;
    Clock::time_point since;
  };
  struct Cause {
    std::string reason;
    Exit exit;
    bool root_cause;
  };

  int remote_rank() const { return size_ - 1; }
  bool is_remote(int rank) const { return remote_ != nullptr && rank == remote_rank(); }
  bool gone(int rank) const;
  bool all_over() const;
  std::string name(int rank) const;
  std::string place(int rank) const;

  void start();
  void supervise();
  void stop_if_asked(Clock::time_point now);
  bool all_reported() const;
  void dispatch(Events::Tag tag, Clock::time_point now);
  void receive(LocalRank& rank, Clock::time_point now);
  void look_after_children(Clock::time_point now);
  void handle(int rank, const nlohmann::json& frame);
  void handle_peer(const nlohmann::json& frame);
  void check(Clock::time_point now);
  void check_progress(Clock::time_point now);
  void forgive(Clock::time_point now);
  void blame(int rank, const Blame& blame);
  void add_cause(Cause cause);
  void end_ranks();
  LaunchOutcome outcome() const;

  const Launch& launch_;
  Signals& signals_;
  RemoteSupervisor* remote_;
  int size_;
  Hub hub_;
  Events events_;
  std::vector<std::unique_ptr<LocalRank>> ranks_;
  std::unordered_map<pid_t, LocalRank*> by_pid_;
  std::vector<Seen> seen_;
  std::vector<Cause> causes_;
  StopCall stop_call_;
  std::optional<Clock::time_point> stopped_;  ///< when the user ended the run
  bool peer_gone_ = false;
  bool peer_reported_ = false;
  bool peer_stop_ = false;
  std::string unkillable_;
};

LaunchOutcome Supervisor::run() {
  const Signals::Waiting waiting(signals_);
  try {
    start();
    if (!signals_.stop()) supervise();
  } catch (const Failure& failure) {
    add_cause({failure.what(), failure.exit(), false});
  }
  end_ranks();
  return outcome();
}

void Supervisor::start() {
  if (remote_ != nullptr) {
    remote_->send(
        {{"type", "launch"}, {"rank", remote_rank()}, {"size", size_}, {"launch", launch_.remote}});
  }
  events_.watch(signals_.fd(), tag_of(Source::signals));
  if (remote_ != nullptr) events_.watch(remote_->fd(), tag_of(Source::remote));
  for (const auto& command : launch_.ranks) {
    signals_.collect();
    if (signals_.stop()) return;
    const auto rank = static_cast<int>(ranks_.size());
    ranks_.push_back(std::make_unique<LocalRank>(command, rank, size_, stop_call_.fd()));
    auto& started = *ranks_.back();
    by_pid_.emplace(started.pid(), &started);
    events_.watch(started.fd(), tag_of(Source::control, rank));
    events_.watch(started.output_fd(), tag_of(Source::output, rank));
  }
  for (auto& seen : seen_) seen.since = Clock::now();
}

void Supervisor::supervise() {
  auto last_round = Clock::now();
  auto next_check = last_round;
  auto settled = Clock::time_point::max();
  for (;;) {
    const bool settles = !causes_.empty() || stopped_;
    const auto ready = events_.wait(settles ? settle_tick : watch_tick);
    const auto now = Clock::now();
    const bool children_changed = signals_.collect();
    if (signals_.abort()) return;
    if (now - last_round > longest_watch_round) forgive(now);
    last_round = now;
    stop_if_asked(now);
    for (const auto tag : ready) {
      dispatch(tag, now);
      // What hundreds of ranks report at once takes seconds.
      stop_if_asked(Clock::now());
      if (stopped_ && Clock::now() - *stopped_ >= report_limit) return;
    }
    if (children_changed) look_after_children(now);
    if (now >= next_check || !causes_.empty()) {
      next_check = now + watch_tick;
      look_after_children(now);
      check(now);
    }
    if (!causes_.empty()) {
      const bool root_cause = std::ranges::any_of(causes_, &Cause::root_cause);
      settled = std::min(settled, now + (root_cause ? settle_time : search_time));
    }
    if (all_over() || now >= settled) return;
    if (stopped_ && (all_reported() || now - *stopped_ >= report_limit)) return;
  }
}

// From here on no rank is let go on: what it does is given up.
void Supervisor::stop_if_asked(Clock::time_point now) {
  if (stopped_ || !(signals_.stop() || peer_stop_)) return;
  stopped_ = now;
  stop_call_.call();
  if (remote_ != nullptr) remote_->send({{"type", "stop"}});
}

bool Supervisor::all_reported() const {
  return (remote_ == nullptr || peer_gone_ || peer_reported_) &&
         std::ranges::all_of(ranks_, [](const auto& rank) { return rank->has_reported(); });
}

void Supervisor::dispatch(Events::Tag tag, Clock::time_point now) {
  const auto source = static_cast<Source>(tag >> 32U);
  if (source == Source::signals) return;  // collected in every round
  if (source == Source::remote) {
    remote_->receive(now, [&](const auto& frame) { handle_peer(frame); });
    if (remote_->ended()) events_.forget(remote_->fd());
    return;
  }
  auto& rank = *ranks_[static_cast<std::uint32_t>(tag)];
  if (source == Source::output) {
    rank.pass_on_output([&](const auto& frame) { handle(rank.rank(), frame); });
  } else {
    receive(rank, now);
    if (!rank.readable()) events_.forget(rank.fd());
  }
}

void Supervisor::receive(LocalRank& rank, Clock::time_point now) {
  std::vector<nlohmann::json> frames;
  try {
    rank.receive(now, [&](nlohmann::json frame) { frames.push_back(std::move(frame)); });
  } catch (const Failure& failure) {
    blame(rank.rank(), {fmt::format("broke its control connection ({})", failure.what())});
  }
  for (const auto& frame : frames) handle(rank.rank(), frame);
}

void Supervisor::look_after_children(Clock::time_point now) {
  const auto look = [&](LocalRank& rank) {
    const auto on_frame = [&](const auto& frame) { handle(rank.rank(), frame); };
    if (const auto found = rank.look(now, on_frame)) blame(rank.rank(), *found);
  };
  while (const auto child = changed_child()) {
    const auto rank = by_pid_.find(*child);
    if (rank != by_pid_.end() && !rank->second->gone()) {
      look(*rank->second);
      continue;
    }
    // Somebody else's child, behind which the kernel hides those of ours.
    for (auto& each : ranks_) look(*each);
    return;
  }
}

void Supervisor::handle(int rank, const nlohmann::json& frame) {
  if (frame.value("type", "") == "warning") {
    const auto line = frame.find("line");
    const bool said = line != frame.end() && line->is_string();
    if (said && launch_.on_warning) launch_.on_warning(rank, *line);
    return;
  }
  std::vector<Hub::Reply> replies;
  try {
    replies = hub_.handle(rank, frame);
  } catch (const Failure& failure) {  // of writing a report
    add_cause({failure.what(), failure.exit(), false});
  }
  for (const auto& reply : replies) {
    if (stopped_ && reply.frame.at("type") != "ok") continue;
    if (is_remote(reply.rank)) {
      remote_->send(reply.frame);
      continue;
    }
    try {
      ranks_[static_cast<std::size_t>(reply.rank)]->send(reply.frame);
    } catch (const Failure&) {
      continue;  // dying, stopped or hung: `check` will say which
    }
  }
  if (const auto& ending = hub_.ending(); ending && causes_.empty() && !stopped_) {
    add_cause(
        {fmt::format("{} failed{}: {}", name(ending->rank), place(ending->rank), ending->reason),
         ending->exit, false});
  }
}

void Supervisor::handle_peer(const nlohmann::json& frame) {
  const std::string type = frame.value("type", "");
  if (type == "blame") {
    blame(remote_rank(), {frame.value("text", ""), static_cast<Exit>(frame.value("exit", 5)),
                          frame.value("root_cause", false)});
  } else if (type == "gone") {
    peer_gone_ = true;
  } else if (type == "reported") {
    peer_reported_ = true;
  } else if (type == "stop") {
    peer_stop_ = true;
  } else if (type == "leave") {
    add_cause({fmt::format("the run was ended on {}", remote_->host()), Exit::interrupted, true});
  } else {
    handle(remote_rank(), frame);
  }
}

void Supervisor::check(Clock::time_point now) {
  std::optional<std::set<pid_t>> stopped;
  const auto stopped_groups = [&]() -> const std::set<pid_t>& {
    if (!stopped) stopped = stopped_process_groups();
    return *stopped;
  };
  for (auto& rank : ranks_) {
    if (const auto found = rank->check(now, stopped_groups)) blame(rank->rank(), *found);
  }
  if (remote_ != nullptr && causes_.empty()) {
    if (const auto problem = remote_->problem(now)) {
      blame(remote_rank(), {fmt::format("was lost: {}", *problem)});
    }
  }
  if (causes_.empty() && !stopped_) check_progress(now);
}

void Supervisor::check_progress(Clock::time_point now) {
  const double seconds = std::chrono::duration<double>(launch_.timeout).count();
  std::vector<std::string> stuck;
  std::vector<std::string> waiting;
  bool all_wait = true;
  for (int rank = 0; rank < size_; ++rank) {
    if (gone(rank)) continue;
    Seen& seen = seen_[static_cast<std::size_t>(rank)];
    if (std::exchange(seen.progress, hub_.progress(rank)) != hub_.progress(rank)) seen.since = now;
    const bool late = now - seen.since > launch_.timeout;
    const auto& awaited = hub_.waiting_for(rank);
    all_wait = all_wait && late && !awaited.empty();
    if (!late) continue;
    if (awaited.empty()) {
      stuck.push_back(
          fmt::format("{} made no progress for {:g} s{}", name(rank), seconds, place(rank)));
    } else {
      waiting.push_back(
          fmt::format("{} waited {:g} s for {}{}", name(rank), seconds, awaited, place(rank)));
    }
  }
  // Who waits for others is to blame only when nobody else is left.
  const auto& guilty = all_wait ? waiting : stuck;
  if (!guilty.empty()) add_cause({fmt::format("{}", fmt::join(guilty, "; ")), Exit::lost, false});
}

void Supervisor::forgive(Clock::time_point now) {
  for (auto& rank : ranks_) rank->forgive(now);
  if (remote_ != nullptr) remote_->forgive(now);
  for (auto& seen : seen_) seen.since = now;
}

bool Supervisor::gone(int rank) const {
  return is_remote(rank) ? peer_gone_ : ranks_[static_cast<std::size_t>(rank)]->gone();
}

bool Supervisor::all_over() const {
  for (int rank = 0; rank < size_; ++rank) {
    // Who has told of its failure waits to be ended.
    if (!gone(rank) && !hub_.failed(rank)) return false;
  }
  return true;
}

std::string Supervisor::name(int rank) const {
  return fmt::format("rank {} on {}", rank, is_remote(rank) ? remote_->host() : host_name());
}

std::string Supervisor::place(int rank) const {
  const auto& phase = hub_.phase(rank);
  return phase.empty() ? " before its first phase" : fmt::format(" in phase \"{}\"", phase);
}

void Supervisor::blame(int rank, const Blame& blame) {
  if (stopped_) return;
  add_cause(
      {fmt::format("{} {}{}", name(rank), blame.text, place(rank)), blame.exit, blame.root_cause});
}

void Supervisor::add_cause(Cause cause) {
  if (causes_.empty() || cause.root_cause) causes_.push_back(std::move(cause));
}

void Supervisor::end_ranks() {
  for (auto& rank : ranks_) rank->kill();
  const auto deadline = Clock::now() + reap_limit;
  for (auto& rank : ranks_) {
    if (!rank->reap(deadline)) {
      unkillable_ +=
          fmt::format("; {} cannot be killed: it hangs in the kernel", name(rank->rank()));
    }
  }
  Traces left;
  for (const auto& rank : ranks_) {
    if (!rank->ended_well()) left.add(rank->traces());
  }
  remove_leftovers(left);
  if (remote_ == nullptr) return;
  try {
    remote_->end_launch();
  } catch (const Failure& failure) {
    if (causes_.empty()) add_cause({failure.what(), failure.exit(), false});
  }
}

LaunchOutcome Supervisor::outcome() const {
  if (signals_.abort()) return {State::interrupted, Exit::interrupted, signals_.reason()};
  if (!causes_.empty()) {
    const bool any_root = std::ranges::any_of(causes_, &Cause::root_cause);
    const Exit exit = std::ranges::find(causes_, any_root, &Cause::root_cause)->exit;
    std::vector<std::string_view> reasons;
    for (const auto& cause : causes_) {
      if (cause.root_cause == any_root) reasons.push_back(cause.reason);
    }
    return {exit == Exit::interrupted ? State::interrupted : State::failed, exit,
            fmt::format("{}{}", fmt::join(reasons, "; "), unkillable_)};
  }
  if (signals_.stop()) return {State::interrupted, Exit::interrupted, signals_.reason()};
  if (peer_stop_) {
    return {State::interrupted, Exit::interrupted,
            fmt::format("stopped by Ctrl-C on {}", remote_->host())};
  }
  return {};
}

}  // namespace

LaunchOutcome run_launch(const Launch& launch, Signals& signals, RemoteSupervisor* remote) {
  return Supervisor(launch, signals, remote).run();
}

}  // namespace ucxbench
