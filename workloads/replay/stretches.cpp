#include "workloads/replay/stretches.hpp"

#include <algorithm>

namespace ucxbench::replay {
namespace {

/// Where how many of a kind are going on changes.
struct Change {
  std::uint64_t at_ns;
  int gaps, transfers;
};

}  // namespace

std::vector<Part> parts_of(Stretch run, std::span<const Stretch> gaps,
                           std::span<const Stretch> transfers) {
  std::vector<Change> changes;
  const auto add = [&](const Stretch& stretch, int gap, int transfer) {
    const auto begin = std::max(stretch.begin_ns, run.begin_ns);
    const auto end = std::min(stretch.end_ns, run.end_ns);
    if (begin >= end) return;
    changes.push_back({begin, gap, transfer});
    changes.push_back({end, -gap, -transfer});
  };
  for (const auto& gap : gaps) add(gap, 1, 0);
  for (const auto& transfer : transfers) add(transfer, 0, 1);
  changes.push_back({run.end_ns, 0, 0});
  std::ranges::sort(changes, {}, &Change::at_ns);
  std::vector<Part> parts;
  auto since = run.begin_ns;
  int open_gaps = 0;
  int open_transfers = 0;
  for (const auto& [at, gap, transfer] : changes) {
    const auto doing = open_gaps > 0        ? Doing::gaps
                       : open_transfers > 0 ? Doing::transferring
                                            : Doing::waiting;
    if (at > since) {
      if (!parts.empty() && parts.back().doing == doing) {
        parts.back().when.end_ns = at;
      } else {
        parts.push_back({doing, {since, at}});
      }
      since = at;
    }
    open_gaps += gap;
    open_transfers += transfer;
  }
  return parts;
}

}  // namespace ucxbench::replay
