#include "harness/launch/supervisor.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "harness/launch/causes.hpp"
#include "harness/launch/events.hpp"
#include "harness/launch/far_ranks.hpp"
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

// Of how many hung ranks the stacks are taken, and how long those of other hosts are waited for.
constexpr std::size_t most_stacks = 8;
constexpr milliseconds stacks_limit{1000};
// Of the three seconds in which a run with a stopped rank ends, most are for finding it.
constexpr milliseconds stacks_of_one_limit{600};
constexpr milliseconds stacks_of_all_limit{2000};

class Supervisor {
 public:
  Supervisor(const Launch& launch, Signals& signals, const RemoteSupervisors& others)
      : launch_(launch),
        signals_(signals),
        size_(static_cast<int>(launch.hosts.empty() ? launch.ranks.size() : launch.hosts.size())),
        hub_(size_, launch.preset, launch.on_report, launch.find),
        ranks_(
            events_, size_, [this](int rank, const auto& frame) { handle(rank, frame); },
            [this](int rank, const Blame& found) { blame(rank, found); }),
        far_(events_, size_, launch.hosts, others,
             {.on_frame = [this](int rank, const auto& frame) { handle(rank, frame); },
              .on_blame = [this](int rank, const Blame& found) { blame(rank, found); },
              .on_lost = [this](int host, const auto& problem) { blame_host(host, problem); },
              .on_leave =
                  [this](const auto& host) {
                    causes_.add(fmt::format("the run was ended on {}", host), Exit::interrupted,
                                true);
                  },
              .on_stacks = [this](int rank, const auto& text) { add_stacks(rank, text); }}),
        progress_(hub_, size_, launch.timeout) {}

  LaunchOutcome run();

 private:
  using State = LaunchOutcome::State;

  bool is_here(int rank) const { return far_.host_of(rank) == 0; }
  bool gone(int rank) const;
  bool all_over() const;
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
  void look_at_mpirun();
  void check(Clock::time_point now);
  void forgive(Clock::time_point now);
  void blame(int rank, const Blame& blame);
  void blame_host(int host, const std::string& problem);
  void take_stacks();
  void add_stacks(int rank, const std::string& text);
  void end_ranks();
  LaunchOutcome outcome() const;

  const Launch& launch_;
  Signals& signals_;
  int size_;
  Hub hub_;
  Events events_;
  std::optional<MpirunJob> mpirun_;
  LocalRanks ranks_;
  FarRanks far_;
  ProgressWatch progress_;
  Causes causes_;
  StopCall stop_call_;
  std::optional<Clock::time_point> stopped_;  ///< when the user ended the run
  std::string unkillable_;
  std::vector<int> hung_;  ///< those to blame first
  std::vector<int> unreached_;
  bool host_lost_ = false;
  bool died_ = false;  ///< a rank, of what nobody else did
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

void Supervisor::start() {
  events_.watch(signals_.fd(), LocalRanks::signals_tag);
  far_.start(launch_.preset, launch_.told);
  const auto given_up = [this] {
    signals_.collect();
    return signals_.stop();
  };
  if (!launch_.mpirun.empty()) mpirun_.emplace(launch_.mpirun, launch_.ranks, given_up);
  const auto here = far_.ranks_of(0);
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
    if (causes_.settled(now, [this] { return ranks_.death_to_come(); }) || all_over()) return;
    if (stopped_ && (all_reported() || now - *stopped_ >= report_limit(size_))) return;
  }
}

// From here on no rank is let go on: what it does is given up.
void Supervisor::stop_if_asked(Clock::time_point now) {
  if (stopped_ || !(signals_.stop() || !far_.stopped_on().empty())) return;
  stopped_ = now;
  stop_call_.call();
  far_.stop();
}

bool Supervisor::all_reported() const {
  return far_.all_reported() &&
         std::ranges::all_of(ranks_.all(), [](const auto& rank) { return rank->has_reported(); });
}

void Supervisor::dispatch(Events::Tag tag, Clock::time_point now) {
  if (tag == LocalRanks::signals_tag) return;  // collected in every round
  if ((tag & LocalRanks::tag_bit) != 0) {
    ranks_.take(tag, now);
    return;
  }
  far_.take(tag, now);
}

void Supervisor::handle(int rank, const nlohmann::json& frame) {
  if (frame.value("type", "") == "warning") {
    const auto line = frame.find("line");
    const bool said = line != frame.end() && line->is_string();
    if (said && launch_.on_warning) launch_.on_warning(rank, line->get<std::string>());
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
    if (ending->exit == Exit::lost) unreached_ = {ending->rank};
  }
}

void Supervisor::send(const Hub::Reply& reply) {
  const bool to_all = reply.rank == Hub::all_ranks;
  if (to_all || is_here(reply.rank)) ranks_.send(reply.rank, reply.frame);
  if (to_all || !is_here(reply.rank)) far_.send(reply);
}

// Ends the job when a rank dies.
void Supervisor::look_at_mpirun() {
  const auto end = mpirun_ ? mpirun_->ended() : std::nullopt;
  if (end && !stopped_) causes_.add(end->how, Exit::lost, end->killed);
}

void Supervisor::check(Clock::time_point now) {
  ranks_.check(now);
  far_.check(now);
  if (!causes_.empty() || stopped_) return;
  const auto stuck = progress_.look(
      now, [this](int rank) { return gone(rank); },
      [this](int rank, const std::string& what) { return sentence(rank, what); });
  if (stuck.reasons.empty()) return;
  causes_.add(stuck.reasons, Exit::lost, false);
  hung_ = stuck.ranks;
  unreached_ = stuck.blamed;
}

void Supervisor::take_stacks() {
  if (hung_.empty()) return;
  if (hung_.size() > most_stacks) hung_.resize(most_stacks);
  const auto limit =
      std::min(stacks_of_one_limit, stacks_of_all_limit / static_cast<int>(hung_.size()));
  for (const auto rank : hung_) {
    if (!is_here(rank)) far_.ask_for_stacks(rank, limit);
  }
  for (const auto rank : hung_) {
    if (is_here(rank)) add_stacks(rank, ranks_.stacks(rank, limit));
  }
  const auto deadline = Clock::now() + stacks_limit;
  while (far_.stacks_awaited() > 0 && Clock::now() < deadline) {
    for (const auto tag : events_.wait(settle_tick)) dispatch(tag, Clock::now());
  }
}

void Supervisor::add_stacks(int rank, const std::string& text) {
  if (!text.empty()) stacks_ += fmt::format("{}{}:\n{}\n", name(rank), place(rank), text);
}

void Supervisor::forgive(Clock::time_point now) {
  ranks_.forgive(now);
  far_.forgive(now);
  progress_.begin(now);
}

bool Supervisor::gone(int rank) const {
  if (!is_here(rank)) return far_.gone(rank);
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

std::string Supervisor::name(int rank) const {
  return fmt::format("rank {} on {}", rank,
                     is_here(rank) ? host_name() : far_.host_name(far_.host_of(rank)));
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
  if (blame.after_all) {
    if (launch_.on_bad_end) launch_.on_bad_end(sentence(rank, blame.text));
    return;
  }
  if (blame.hung) hung_.push_back(rank);
  died_ |= blame.root_cause;
  causes_.add(sentence(rank, blame.text), blame.exit, blame.root_cause);
}

void Supervisor::blame_host(int host, const std::string& problem) {
  if (stopped_) return;
  const auto ranks = far_.ranks_of(host);
  host_lost_ = true;
  unreached_ = ranks;
  causes_.add(fmt::format("rank{} {} on {} {} lost: {}{}", ranks.size() == 1 ? "" : "s",
                          fmt::join(ranks, ", "), far_.host_name(host),
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
  for (const auto& problem : far_.end()) {
    if (causes_.empty() && !stopped_) causes_.add(problem.what(), problem.exit(), false);
  }
}

LaunchOutcome Supervisor::outcome() const {
  if (signals_.abort()) return {State::interrupted, Exit::interrupted, signals_.reason()};
  if (!causes_.empty()) {
    const Exit exit = causes_.exit();
    LaunchOutcome failed{exit == Exit::interrupted ? State::interrupted : State::failed, exit,
                         causes_.reasons() + unkillable_, stacks_};
    if (exit == Exit::lost && !died_) {
      failed.unreached = unreached_;
      failed.host_lost = host_lost_;
    }
    return failed;
  }
  if (signals_.stop()) return {State::interrupted, Exit::interrupted, signals_.reason()};
  if (!far_.stopped_on().empty()) {
    return {State::interrupted, Exit::interrupted,
            fmt::format("stopped by Ctrl-C on {}", far_.stopped_on())};
  }
  return {};
}

}  // namespace

namespace {

LaunchOutcome outcome_of(const Launch& launch, Signals& signals, const RemoteSupervisors& others) {
  try {
    return Supervisor(launch, signals, others).run();
  } catch (const std::bad_alloc&) {
    return {.state = LaunchOutcome::State::failed,
            .exit = Exit::lost,
            .reason = fmt::format("{}: the supervisor of the ranks is out of memory", host_name())};
  }
}

}  // namespace

LaunchOutcome run_launch(const Launch& launch, Signals& signals, const RemoteSupervisors& others) {
  std::vector<HostClock> clocks;
  for (const auto& other : others) clocks.push_back({other->host(), other->clock_offset()});
  auto outcome = outcome_of(launch, signals, others);
  if (outcome.state == LaunchOutcome::State::completed) {
    for (std::size_t at = 0; at < others.size(); ++at)
      clocks[at].after = others[at]->clock_offset();
  }
  outcome.clocks = std::move(clocks);
  return outcome;
}

}  // namespace ucxbench
