#include "harness/run/clock_watch.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <limits>
#include <map>
#include <thread>

#include "harness/core/failure.hpp"
#include "harness/run/together.hpp"
#include "harness/run/wire.hpp"

namespace ucxbench {
namespace {

constexpr std::uint64_t many_ticks = 1'000'000'000;
// Both clocks are read within less than a microsecond of each other.
constexpr double least_ns = 20e6;

bool differ(double ratio) { return std::abs(ratio - 1) > most_clock_error; }

}  // namespace

// The closest of some, so that a preemption between the two clocks does not count.
ClockWatch::Reading ClockWatch::read() const {
  Reading best{};
  auto width = std::numeric_limits<std::uint64_t>::max();
  for (int at = 0; at < 32; ++at) {
    const auto before = clock_.ticks();
    const auto ns = monotonic_ns();
    const auto after = clock_.ticks();
    if (after - before >= width) continue;
    width = after - before;
    best = {.ticks = before + width / 2, .ns = ns};
  }
  return best;
}

std::optional<ClockDoubt> ClockWatch::doubt() const {
  auto end = read();
  while (static_cast<double>(end.ns - begin_.ns) < least_ns) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    end = read();
  }
  const auto ratio =
      clock_.us(end.ticks - begin_.ticks) * 1e3 / static_cast<double>(end.ns - begin_.ns);
  if (!differ(ratio)) return std::nullopt;
  return ClockDoubt{.fault = ClockFault::calibration, .ratio = ratio};
}

std::optional<ClockDoubt> doubt_between(double of_rank, double of_other, int rank, int other) {
  if (!differ(of_rank / of_other)) return std::nullopt;
  return ClockDoubt{
      .fault = ClockFault::other_rank, .ratio = of_rank / of_other, .rank = rank, .other = other};
}

void check_ranks_agree(Rendezvous& rendezvous, const Clock& clock,
                       const Rendezvous::Progress& progress) {
  const auto own_name = clock_identity() + " " + clock.name().substr(0, clock.name().find(' '));
  const auto own_ns = clock.us(many_ticks) * 1e3;
  const Json own = {own_name, own_ns};
  const auto all = gather(rendezvous, "calibrations", own, progress);
  struct Extremes {
    std::size_t slowest, fastest;  // ranks
  };
  const auto ns_of = [&](std::size_t rank) { return all[rank].at(1).get<double>(); };
  std::map<std::string, Extremes> by_clock;
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    const auto name = all[rank].at(0).get<std::string>();
    auto& [slowest, fastest] = by_clock.try_emplace(name, Extremes{rank, rank}).first->second;
    if (ns_of(rank) < ns_of(slowest)) slowest = rank;
    if (ns_of(rank) > ns_of(fastest)) fastest = rank;
  }
  for (const auto& [name, of] : by_clock) {
    check_no(doubt_between(ns_of(of.fastest), ns_of(of.slowest), static_cast<int>(of.fastest),
                           static_cast<int>(of.slowest)));
  }
}

std::string in_words(const ClockDoubt& doubt) {
  constexpr const char* what_to_do =
      "all its times would be wrong by as much: see that nothing sets the clock, and run again";
  const auto percent = std::abs(doubt.ratio - 1) * 100;
  if (doubt.fault == ClockFault::other_rank) {
    return fmt::format("the clocks of ranks {} and {}, of one host, differ by {:.2g} %; {}",
                       doubt.rank, doubt.other, percent, what_to_do);
  }
  return fmt::format(
      "the clock of this rank, calibrated at its begin, was {:.2g} % too {} over the launch; {}",
      percent, doubt.ratio > 1 ? "fast" : "slow", what_to_do);
}

void check_no(const std::optional<ClockDoubt>& doubt) {
  if (doubt) throw Failure(Exit::lost, in_words(*doubt));
}

}  // namespace ucxbench
