#include "harness/launch/supervisor.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "harness/launch/causes.hpp"
#include "harness/launch/events.hpp"
#include "harness/launch/host_name.hpp"
#include "harness/launch/local_ranks.hpp"
#include "harness/launch/mpirun.hpp"
#include "harness/launch/progress_watch.hpp"

namespace ucxbench {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr milliseconds settle_tick{10};
// For ranks to report what they have finished, when the user ends the run. That of hundreds takes
// the supervisor itself the more time later, in the same second.
constexpr milliseconds report_limit(int ranks) {
  return std::max(milliseconds(500 - ranks), milliseconds(200));
}

// For all other hosts together to end their ranks.
constexpr std::chrono::seconds launch_end_limit{5};

// Of how many hung ranks the stacks are taken, and how long those of other hosts are waited for.
constexpr std::size_t most_stacks = 8;
constexpr milliseconds stacks_limit{1000};

// Of the connection to the supervisor of host 1, 2, …; LocalRanks::signals_tag is 0.
constexpr Events::Tag tag_of_host(int host) { return static_cast<Events::Tag>(host); }

class Supervisor {
 public:
  Supervisor(const Launch& launch, Signals& signals, const RemoteSupervisors& others)
      : launch_(launch),
        signals_(signals),
        others_(others),
        size_(static_cast<int>(launch.hosts.empty() ? launch.ranks.size() : launch.hosts.size())),
        hub_(size_, launch.preset, launch.on_report),
        ranks_(
            events_, size_, [this](int rank, const auto& frame) { handle(rank, frame); },
            [this](int rank, const Blame& found) { blame(rank, found); }),
        far_(static_cast<std::size_t>(size_)),
        progress_(hub_, size_, launch.timeout) {}

  LaunchOutcome run();

 private:
  using State = LaunchOutcome::State;

  /// What is known of a rank of another host.
  struct Far {
    bool gone = false;
    bool reported = false;
  };

  int host_of(int rank) const {
    return launch_.hosts.empty() ? 0 : launch_.hosts[static_cast<std::size_t>(rank)];
  }
  RemoteSupervisor& other(int host) const { return *others_[static_cast<std::size_t>(host) - 1]; }
  std::vector<int> ranks_of(int host) const;
  bool gone(int rank) const;
  bool all_over() const;
  std::string host_name_of(int rank) const;
  std::string name(int rank) const;
  std::string place(int rank) const;
  std::string sentence(int rank, const std::string& what) const;

  void start();
  void supervise();
  void stop_if_asked(Clock::time_point now);
  bool all_reported() const;
  void dispatch(Events::Tag tag, Clock::time_point now);
  void handle(int rank, const nlohmann::json& frame);
  void send(const Hub::Reply& reply);
  void handle_host(int host, const nlohmann::json& frame);
  void look_at_mpirun();
  void check(Clock::time_point now);
  void forgive(Clock::time_point now);
  void blame(int rank, const Blame& blame);
  void blame_host(int host, const std::string& problem);
  void take_stacks();
  void ask_for_stacks(int rank);
  void add_stacks(int rank, const std::string& text);
  void end_ranks();
  void end_others();
  LaunchOutcome outcome() const;

  const Launch& launch_;
  Signals& signals_;
  const RemoteSupervisors& others_;
  int size_;
  Hub hub_;
  Events events_;
  std::optional<MpirunJob> mpirun_;
  LocalRanks ranks_;
  std::vector<Far> far_;  ///< by rank
  ProgressWatch progress_;
  Causes causes_;
  StopCall stop_call_;
  std::optional<Clock::time_point> stopped_;  ///< when the user ended the run
  std::string stopped_on_;                    ///< another host, where the user did that
  std::string unkillable_;
  std::vector<int> hung_;  ///< those to blame first
  int stacks_awaited_ = 0;
  std::string stacks_;
};

LaunchOutcome Supervisor::run() {
  const Signals::Waiting waiting(signals_);
  try {
    start();
    if (!signals_.stop()) supervise();
  } catch (const Failure& failure) {
    if (failure.exit() != Exit::interrupted) causes_.add(failure.what(), failure.exit());
  }
  if (!stopped_ && !signals_.stop()) take_stacks();
  end_ranks();
  return outcome();
}

std::vector<int> Supervisor::ranks_of(int host) const {
  std::vector<int> ranks;
  for (int rank = 0; rank < size_; ++rank) {
    if (host_of(rank) == host) ranks.push_back(rank);
  }
  return ranks;
}

void Supervisor::start() {
  events_.watch(signals_.fd(), LocalRanks::signals_tag);
  auto preset = nlohmann::json::object();
  for (const auto& [key, value] : launch_.preset) preset[key] = nlohmann::json::binary(value);
  for (int host = 1; host <= static_cast<int>(others_.size()); ++host) {
    other(host).send({{"type", "launch"},
                      {"ranks", ranks_of(host)},
                      {"size", size_},
                      {"preset", preset},
                      {"told", launch_.told.at(static_cast<std::size_t>(host) - 1)}});
    events_.watch(other(host).fd(), tag_of_host(host));
  }
  const auto given_up = [this] {
    signals_.collect();
    return signals_.stop();
  };
  if (!launch_.mpirun.empty()) mpirun_.emplace(launch_.mpirun, launch_.ranks, given_up);
  const auto here = ranks_of(0);
  for (std::size_t at = 0; at < here.size(); ++at) {
    signals_.collect();
    if (signals_.stop()) return;
    const auto& command = launch_.ranks.at(at);
    ranks_.start(mpirun_ ? mpirun_->at_place(command, here[at]) : command, here[at],
                 stop_call_.fd(), [this] { return signals_.stop(); });
  }
  progress_.begin(Clock::now());
}

void Supervisor::supervise() {
  auto last_round = Clock::now();
  auto next_check = last_round;
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
      if (stopped_ && Clock::now() - *stopped_ >= report_limit(size_)) return;
    }
    if (children_changed) {
      ranks_.look(now);
      look_at_mpirun();
    }
    if (now >= next_check || !causes_.empty()) {
      next_check = now + watch_tick;
      ranks_.look(now);
      check(now);
    }
    if (causes_.settled(now) || all_over()) return;
    if (stopped_ && (all_reported() || now - *stopped_ >= report_limit(size_))) return;
  }
}

// From here on no rank is let go on: what it does is given up.
void Supervisor::stop_if_asked(Clock::time_point now) {
  if (stopped_ || !(signals_.stop() || !stopped_on_.empty())) return;
  stopped_ = now;
  stop_call_.call();
  for (const auto& each : others_) each->send({{"type", "stop"}});
}

bool Supervisor::all_reported() const {
  for (int rank = 0; rank < size_; ++rank) {
    const auto& far = far_[static_cast<std::size_t>(rank)];
    if (host_of(rank) != 0 && !far.gone && !far.reported) return false;
  }
  return std::ranges::all_of(ranks_.all(), [](const auto& rank) { return rank->has_reported(); });
}

void Supervisor::dispatch(Events::Tag tag, Clock::time_point now) {
  if (tag == LocalRanks::signals_tag) return;  // collected in every round
  if ((tag & LocalRanks::tag_bit) != 0) {
    ranks_.take(tag, now);
    return;
  }
  const auto host = static_cast<int>(tag);
  try {
    other(host).receive(now, [&](const auto& frame) { handle_host(host, frame); });
  } catch (const Failure& failure) {
    blame_host(host, failure.what());
  }
  if (other(host).ended()) events_.forget(other(host).fd());
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
    causes_.add(failure.what(), failure.exit(), false);
  }
  for (const auto& reply : replies) {
    if (stopped_ && reply.frame.at("type") != "ok") continue;
    send(reply);
  }
  if (const auto& ending = hub_.ending(); ending && causes_.empty() && !stopped_) {
    causes_.add(
        fmt::format("{} failed{}: {}", name(ending->rank), place(ending->rank), ending->reason),
        ending->exit, false);
  }
}

// What goes to all ranks is sent to each host once.
void Supervisor::send(const Hub::Reply& reply) {
  const bool to_all = reply.rank == Hub::all_ranks;
  const auto first = to_all ? 0 : host_of(reply.rank);
  const auto last = to_all ? static_cast<int>(others_.size()) : first;
  for (auto host = first; host <= last; ++host) {
    if (host == 0) {
      ranks_.send(reply.rank, reply.frame);
      continue;
    }
    try {
      other(host).send({{"type", "rank"}, {"rank", reply.rank}, {"frame", reply.frame}});
    } catch (const Failure& failure) {
      blame_host(host, failure.what());
    }
  }
}

void Supervisor::handle_host(int host, const nlohmann::json& frame) {
  const std::string type = frame.value("type", "");
  if (type == "stop") {
    stopped_on_ = other(host).host();
    return;
  }
  if (type == "leave") {
    causes_.add(fmt::format("the run was ended on {}", other(host).host()), Exit::interrupted,
                true);
    return;
  }
  const auto rank = frame.value("rank", -1);
  if (rank < 0 || rank >= size_ || host_of(rank) != host) {
    throw Failure(Exit::lost,
                  fmt::format("{} sent a message for a rank of another host", other(host).host()));
  }
  auto& far = far_[static_cast<std::size_t>(rank)];
  if (type == "blame") {
    blame(rank, {frame.value("text", ""), exit_of(frame.value("exit", 5)),
                 frame.value("root_cause", false), frame.value("hung", false)});
  } else if (type == "stacks") {
    --stacks_awaited_;
    add_stacks(rank, frame.value("text", ""));
  } else if (type == "gone") {
    far.gone = true;
  } else {
    const auto& said = frame.at("frame");
    far.reported = far.reported || said.value("type", "") == "reported";
    handle(rank, said);
  }
}

// Ends the job when a rank dies.
void Supervisor::look_at_mpirun() {
  const auto end = mpirun_ ? mpirun_->ended() : std::nullopt;
  if (end && !stopped_) causes_.add(end->how, Exit::lost, end->killed);
}

void Supervisor::check(Clock::time_point now) {
  ranks_.check(now);
  for (int host = 1; host <= static_cast<int>(others_.size()); ++host) {
    if (const auto problem = other(host).problem(now)) blame_host(host, *problem);
  }
  if (!causes_.empty() || stopped_) return;
  const auto stuck = progress_.look(
      now, [this](int rank) { return gone(rank); },
      [this](int rank, const std::string& what) { return sentence(rank, what); });
  if (stuck.reasons.empty()) return;
  causes_.add(stuck.reasons, Exit::lost, false);
  hung_ = stuck.ranks;
}

void Supervisor::take_stacks() {
  if (hung_.size() > most_stacks) hung_.resize(most_stacks);
  for (const auto rank : hung_) ask_for_stacks(rank);
  for (const auto rank : hung_) {
    if (host_of(rank) == 0) add_stacks(rank, ranks_.stacks(rank));
  }
  const auto deadline = Clock::now() + stacks_limit;
  while (stacks_awaited_ > 0 && Clock::now() < deadline) {
    for (const auto tag : events_.wait(settle_tick)) dispatch(tag, Clock::now());
  }
}

void Supervisor::ask_for_stacks(int rank) {
  if (host_of(rank) == 0) return;
  try {
    other(host_of(rank)).send({{"type", "stacks"}, {"rank", rank}});
    ++stacks_awaited_;
  } catch (const Failure& failure) {
    blame_host(host_of(rank), failure.what());
  }
}

void Supervisor::add_stacks(int rank, const std::string& text) {
  if (!text.empty()) stacks_ += fmt::format("{}{}:\n{}\n", name(rank), place(rank), text);
}

void Supervisor::forgive(Clock::time_point now) {
  ranks_.forgive(now);
  for (const auto& each : others_) each->forgive(now);
  progress_.begin(now);
}

bool Supervisor::gone(int rank) const {
  if (host_of(rank) != 0) return far_[static_cast<std::size_t>(rank)].gone;
  const auto* const here = ranks_.find(rank);
  return here != nullptr && here->gone();
}

bool Supervisor::all_over() const {
  for (int rank = 0; rank < size_; ++rank) {
    // Who has told of its failure waits to be ended.
    if (!gone(rank) && !hub_.failed(rank)) return false;
  }
  return true;
}

std::string Supervisor::host_name_of(int rank) const {
  const auto host = host_of(rank);
  return host == 0 ? host_name() : other(host).host();
}

std::string Supervisor::name(int rank) const {
  return fmt::format("rank {} on {}", rank, host_name_of(rank));
}

std::string Supervisor::place(int rank) const {
  const auto& phase = hub_.phase(rank);
  return phase.empty() ? " before its first phase" : fmt::format(" in phase \"{}\"", phase);
}

std::string Supervisor::sentence(int rank, const std::string& what) const {
  return fmt::format("{} {}{}", name(rank), what, place(rank));
}

void Supervisor::blame(int rank, const Blame& blame) {
  if (stopped_) return;
  if (blame.hung) hung_.push_back(rank);
  causes_.add(sentence(rank, blame.text), blame.exit, blame.root_cause);
}

// Once: what its ranks miss from now on has this cause.
void Supervisor::blame_host(int host, const std::string& problem) {
  const auto ranks = ranks_of(host);
  if (std::ranges::all_of(ranks, [&](int rank) { return gone(rank); }) || stopped_) return;
  for (const auto rank : ranks) far_[static_cast<std::size_t>(rank)].gone = true;
  causes_.add(fmt::format("rank{} {} on {} {} lost: {}{}", ranks.size() == 1 ? "" : "s",
                          fmt::join(ranks, ", "), other(host).host(),
                          ranks.size() == 1 ? "was" : "were", problem, place(ranks.front())),
              Exit::lost, true);
}

void Supervisor::end_ranks() {
  for (const auto rank : ranks_.end(stopped_ || signals_.stop())) {
    unkillable_ += fmt::format(
        "; {} has not ended {} s after SIGKILL: it hangs in the kernel, or the host is very busy",
        name(rank), reap_limit.count());
  }
  mpirun_.reset();
  end_others();
}

void Supervisor::end_others() {
  std::vector<RemoteSupervisor*> ending;
  const auto attempt = [&](const auto& step) {
    try {
      step();
    } catch (const Failure& failure) {
      if (causes_.empty()) causes_.add(failure.what(), failure.exit(), false);
    }
  };
  for (const auto& each : others_) {
    attempt([&] {
      each->begin_end();
      ending.push_back(each.get());
    });
  }
  const auto deadline = Clock::now() + launch_end_limit;
  for (auto* each : ending) attempt([&] { each->await_end(deadline); });
}

LaunchOutcome Supervisor::outcome() const {
  if (signals_.abort()) return {State::interrupted, Exit::interrupted, signals_.reason()};
  if (!causes_.empty()) {
    const Exit exit = causes_.exit();
    return {exit == Exit::interrupted ? State::interrupted : State::failed, exit,
            causes_.reasons() + unkillable_, stacks_};
  }
  if (signals_.stop()) return {State::interrupted, Exit::interrupted, signals_.reason()};
  if (!stopped_on_.empty()) {
    return {State::interrupted, Exit::interrupted,
            fmt::format("stopped by Ctrl-C on {}", stopped_on_)};
  }
  return {};
}

}  // namespace

LaunchOutcome run_launch(const Launch& launch, Signals& signals, const RemoteSupervisors& others) {
  std::vector<HostClock> clocks;
  for (const auto& other : others) clocks.push_back({other->host(), other->clock_offset()});
  auto outcome = Supervisor(launch, signals, others).run();
  if (outcome.state == LaunchOutcome::State::completed) {
    for (std::size_t at = 0; at < others.size(); ++at)
      clocks[at].after = others[at]->clock_offset();
  }
  outcome.clocks = std::move(clocks);
  return outcome;
}

}  // namespace ucxbench
