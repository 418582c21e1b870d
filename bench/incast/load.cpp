#include "bench/incast/load.hpp"

#include <algorithm>

#include "bench/incast/parameters.hpp"
#include "harness/comm/flows.hpp"

namespace ucxbench::incast {
namespace {

std::vector<std::uint64_t> carry_out(Communicator& comm, const Clock& clock, const Load& load,
                                     const std::vector<int>& to, const std::vector<int>& from) {
  std::vector<FlowTo> flows_to;
  std::vector<FlowFrom> flows_from;
  for (const auto rank : to) flows_to.push_back({rank, load.send, load.messages});
  for (const auto rank : from) {
    flows_from.push_back({rank, load.receive[static_cast<std::size_t>(rank)], load.messages});
  }
  Flows flows(comm, clock, flows_to, flows_from, load.window, 0);
  comm.barrier();
  const auto began = clock.ticks();
  comm.barrier();
  flows.finish();
  std::vector<std::uint64_t> ticks(static_cast<std::size_t>(comm.size()));
  for (std::size_t i = 0; i < from.size(); ++i) {
    ticks[static_cast<std::size_t>(from[i])] = flows.ended(i) - began;
  }
  return ticks;
}

std::vector<int> others(const Communicator& comm) {
  std::vector<int> ranks;
  for (int rank = 0; rank < comm.size(); ++rank) {
    if (rank != hot_rank) ranks.push_back(rank);
  }
  return ranks;
}

}  // namespace

std::vector<std::uint64_t> many_to_one(Communicator& comm, const Clock& clock, const Load& load) {
  if (comm.rank() != hot_rank) return carry_out(comm, clock, load, {hot_rank}, {});
  return carry_out(comm, clock, load, {}, others(comm));
}

std::vector<std::uint64_t> one_to_many(Communicator& comm, const Clock& clock, const Load& load) {
  if (comm.rank() != hot_rank) return carry_out(comm, clock, load, {}, {hot_rank});
  return carry_out(comm, clock, load, others(comm), {});
}

Shares shares_of(std::span<const double> sender_ns, double bytes_of_sender) {
  const auto [fastest, slowest] = std::ranges::minmax(sender_ns);
  if (!(fastest > 0)) return {};
  return {.GBps = bytes_of_sender * static_cast<double>(sender_ns.size()) / slowest,
          .fairness = fastest / slowest};
}

}  // namespace ucxbench::incast
