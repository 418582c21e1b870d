#include "harness/launch/local_ranks.hpp"

#include <fmt/format.h>
#include <linux/close_range.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <set>
#include <thread>
#include <utility>

#include "harness/launch/hub.hpp"
#include "harness/launch/leftovers.hpp"
#include "harness/launch/processes.hpp"

namespace ucxbench {
namespace {

constexpr Events::Tag control_tag(int rank) {
  return LocalRanks::tag_bit | static_cast<Events::Tag>(rank) << 1U;
}
constexpr Events::Tag output_tag(int rank) { return control_tag(rank) | 1U; }

// Of the second in which a run shall end, ranks have half for their reports.
constexpr std::chrono::milliseconds soon_limit{100};
// For those that are left.
constexpr std::chrono::seconds apart_limit{120};

}  // namespace

LocalRanks::LocalRanks(Events& events, int size, OnFrame on_frame, OnBlame on_blame)
    : events_(events),
      size_(size),
      on_frame_(std::move(on_frame)),
      on_blame_(std::move(on_blame)),
      by_rank_(static_cast<std::size_t>(size)) {}

void LocalRanks::start(const RankCommand& command, int rank, int stop_fd, const GivenUp& given_up) {
  ranks_.push_back(std::make_unique<LocalRank>(command, rank, size_, stop_fd, given_up));
  auto& started = *ranks_.back();
  by_rank_.at(static_cast<std::size_t>(rank)) = &started;
  by_pid_.emplace(started.pid(), &started);
  events_.watch(started.fd(), control_tag(rank));
  events_.watch(started.output_fd(), output_tag(rank));
}

LocalRank* LocalRanks::find(int rank) const {
  const auto at = static_cast<std::size_t>(rank);
  return rank >= 0 && at < by_rank_.size() ? by_rank_[at] : nullptr;
}

void LocalRanks::send(int rank, const Channel::Frame& frame) const {
  if (rank == Hub::all_ranks) {
    for (const auto& each : ranks_) send(each->rank(), frame);
    return;
  }
  auto* const to = find(rank);
  if (to == nullptr) return;
  try {
    to->send(frame);
  } catch (const Failure& failure) {
    // One that has ended says more by how it did.
    if (!to->closed()) on_blame_(rank, {fmt::format("cannot be told ({})", failure.what())});
  }
}

LocalRank::OnFrame LocalRanks::from(const LocalRank& rank) const {
  return [this, number = rank.rank()](const Channel::Frame& frame) { on_frame_(number, frame); };
}

void LocalRanks::take(Events::Tag tag, Clock::time_point now) {
  auto* const rank = find(static_cast<int>((tag & ~tag_bit) >> 1U));
  if (rank == nullptr) return;
  if ((tag & 1U) != 0) {
    rank->pass_on_output(from(*rank));
  } else {
    receive(*rank, now);
    if (!rank->readable()) events_.forget(rank->fd());
  }
}

void LocalRanks::receive(LocalRank& rank, Clock::time_point now) {
  std::vector<Channel::Frame> frames;
  try {
    rank.receive(now, [&](Channel::Frame frame) { frames.push_back(std::move(frame)); });
  } catch (const Failure& failure) {
    on_blame_(rank.rank(), {fmt::format("broke its control connection ({})", failure.what())});
  }
  for (const auto& frame : frames) on_frame_(rank.rank(), frame);
}

void LocalRanks::look(Clock::time_point now) {
  const auto look_at = [&](LocalRank& rank) {
    if (const auto found = rank.look(now, from(rank))) on_blame_(rank.rank(), *found);
  };
  while (const auto child = changed_child()) {
    const auto rank = by_pid_.find(*child);
    if (rank != by_pid_.end() && !rank->second->gone()) {
      look_at(*rank->second);
      continue;
    }
    // Somebody else's child, behind which the kernel hides those of ours.
    for (auto& each : ranks_) look_at(*each);
    return;
  }
}

void LocalRanks::check(Clock::time_point now) {
  std::optional<std::set<pid_t>> stopped;
  const auto stopped_groups = [&]() -> const std::set<pid_t>& {
    if (!stopped) stopped = stopped_process_groups();
    return *stopped;
  };
  for (auto& rank : ranks_) {
    if (const auto found = rank->check(now, stopped_groups)) on_blame_(rank->rank(), *found);
  }
}

void LocalRanks::forgive(Clock::time_point now) {
  for (auto& rank : ranks_) rank->forgive(now);
}

bool LocalRanks::death_to_come() const {
  return std::ranges::any_of(ranks_, [](const auto& rank) { return rank->death_to_come(); });
}

std::string LocalRanks::stacks(int rank, std::chrono::milliseconds limit) const {
  const auto* const here = find(rank);
  return here == nullptr ? "" : here->stacks(Clock::now() + limit);
}

std::vector<int> LocalRanks::end(bool soon) {
  const bool give_way = soon && give_way_at_their_end(ranks_.size());
  for (auto& rank : ranks_) {
    if (give_way) rank->give_way();
    rank->kill();
  }
  const auto deadline = Clock::now() + (soon ? soon_limit : reap_limit);
  std::vector<LocalRank*> dying;
  for (auto& rank : ranks_) {
    if (!rank->reap(deadline)) dying.push_back(rank.get());
  }
  Traces left;
  for (const auto& rank : ranks_) {
    if (!rank->ended_well()) left.add(rank->traces());
  }
  if (soon && !dying.empty()) {
    leave_to_a_child(dying, left);
    return {};
  }
  remove_leftovers(left);
  std::vector<int> unkillable;
  for (auto* rank : dying) {
    unkillable.push_back(rank->rank());
    rank->leave();
  }
  return unkillable;
}

void LocalRanks::leave_to_a_child(const std::vector<LocalRank*>& dying, const Traces& left) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::setsid();
    ::close_range(0, ~0U, 0);
    const auto deadline = Clock::now() + apart_limit;
    std::vector<pid_t> waited_for;
    for (const auto* rank : dying) {
      const auto& creators = rank->traces().creators;
      waited_for.insert(waited_for.end(), creators.begin(), creators.end());
    }
    while (std::erase_if(waited_for, is_over), !waited_for.empty() && Clock::now() < deadline) {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    remove_leftovers(left);
    ::_exit(0);
  }
  if (child < 0) remove_leftovers(left);
  for (auto* rank : dying) rank->leave();
}

}  // namespace ucxbench
