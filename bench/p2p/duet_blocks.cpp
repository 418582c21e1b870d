#include "bench/p2p/duet_blocks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>

#include "harness/run/duets.hpp"

namespace ucxbench::p2p {

std::string quads_of(const DuetRank& duet, const Parameters& p) {
  const auto quads = std::max(least_duet_quads, (p.runs + 1) / 2);
  return duet.draw(static_cast<std::size_t>(quads), fmt::format("{} B", p.bytes));
}

std::uint64_t streams_of_block(const Parameters& p) {
  const auto window = p.bytes * static_cast<std::uint64_t>(p.window);
  return window <= largest_duet_window ? duet_streams : 1;
}

void keep_streams(LaunchRecord& record, const DuetRank& duet, const Parameters& p,
                  const std::string& metric) {
  const auto found = record.samples.find(metric);
  if (found == record.samples.end()) return;
  const PlannedBlocks planned{.iterations = streams_of_block(p), .quads = quads_of(duet, p)};
  const auto values = medians_of_blocks(found->second.values, planned);
  if (!values.empty()) keep_blocks(record, duet, metric, planned, values);
}

}  // namespace ucxbench::p2p
