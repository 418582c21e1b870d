#include "workloads/common/calibration.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "harness/comm/all_to_all.hpp"
#include "harness/core/statistics.hpp"
#include "harness/run/together.hpp"
#include "workloads/common/phases.hpp"

namespace ucxbench {
namespace {

// Of each rank: what it sent, its clock, when it came to the meeting and left it, and its end.
std::vector<Span> spans_of(const std::vector<std::vector<std::uint64_t>>& ranks) {
  std::vector<Met> met;
  for (const auto& rank : ranks) met.push_back({.came_ns = rank[2], .left_ns = rank[3]});
  const TimeAxis axis(have_one_identity(ranks, [](const auto& rank) { return rank[1]; }), met);
  std::vector<Span> spans;
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    spans.push_back({.begin = axis.at(met[rank].left_ns, met[rank]),
                     .end = axis.at(ranks[rank][4], met[rank]),
                     .bytes = static_cast<double>(ranks[rank][0])});
  }
  return spans;
}

}  // namespace

std::optional<double> median_exchange_GBps(Communicator& comm, const Clock& clock, int times,
                                           const ExchangeAlone& exchange,
                                           std::vector<Buffer> received, Checks& checks) {
  const auto own_clock = std::hash<std::string>()(clock_identity());
  const auto begin = [&](std::uint32_t number) {
    for (auto& buffer : received) buffer.poison();
    exchange.prepare(number);
  };
  std::vector<double> rates;
  std::uint32_t number = 0;
  for (; number < static_cast<std::uint32_t>(times); ++number) {
    begin(number);
    const auto met = meet(comm);
    const auto sent = exchange.carry_out(number);
    const auto all = together_of(
        spans_of(all_gather(comm, {sent, own_clock, met.came_ns, met.left_ns, monotonic_ns()})));
    const auto rate = Clock::rate_per_s(all.bytes, all.span_ns, clock.step_ns());
    if (rate && all.bytes > 0) rates.push_back(*rate * 1e-9);
    checks.add(exchange.verify());
    comm.barrier();  // what verification reads is still another's to write after it
  }
  if (exchange.verify_each) {
    begin(number);
    comm.barrier();  // all places are poisoned
    checks.add(exchange.verify_each(number));
    comm.barrier();
  }
  return rates.empty() ? std::nullopt : std::optional(median(std::move(rates)));
}

}  // namespace ucxbench
