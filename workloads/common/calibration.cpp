#include "workloads/common/calibration.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "harness/comm/all_to_all.hpp"
#include "harness/core/statistics.hpp"

namespace ucxbench {

std::optional<double> median_exchange_GBps(
    Communicator& comm, const Clock& clock, int times,
    const std::function<std::uint64_t(std::uint32_t number)>& exchange) {
  std::vector<double> rates;
  for (int i = 0; i < times; ++i) {
    comm.barrier();
    const auto began = clock.ticks();
    const auto sent = exchange(static_cast<std::uint32_t>(i));
    const auto took_ns = clock.us(clock.ticks() - began) * 1e3;
    std::uint64_t bytes = 0;
    std::uint64_t slowest_ns = 0;
    for (const auto& rank : all_gather(comm, {sent, static_cast<std::uint64_t>(took_ns)})) {
      bytes += rank[0];
      slowest_ns = std::max(slowest_ns, rank[1]);
    }
    const auto rate = Clock::rate_per_s(static_cast<double>(bytes), static_cast<double>(slowest_ns),
                                        clock.step_ns());
    if (rate) rates.push_back(*rate * 1e-9);
  }
  return rates.empty() ? std::nullopt : std::optional(median(std::move(rates)));
}

}  // namespace ucxbench
