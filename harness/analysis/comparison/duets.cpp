#include "harness/analysis/comparison/duets.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "harness/analysis/comparison/signed_rank.hpp"
#include "harness/core/statistics.hpp"

namespace ucxbench {
namespace {

// Of one launch and pair of ranks, if it was a duet.
const DuetBlocks* blocks_of(const LaunchRecord& record, const std::string& metric) {
  if (!record.duet) return nullptr;
  const auto found = record.duet->blocks.find(metric);
  return found == record.duet->blocks.end() ? nullptr : &found->second;
}

using RecordPlace = std::tuple<int, int, int>;  // launch, src, dst
RecordPlace place_of(const LaunchRecord& record) { return {record.launch, record.src, record.dst}; }

// Empty where the two do not belong together, or a block has no positive value.
std::vector<double> quads_of(const DuetBlocks& base, const DuetBlocks& now) {
  const auto count = base.quads.size();
  if (now.quads != base.quads || base.values.size() != 2 * count ||
      now.values.size() != 2 * count) {
    return {};
  }
  std::vector<double> logs;
  for (std::size_t quad = 0; quad < count; ++quad) {
    const auto at = 2 * quad;
    const auto log = (std::log(now.values[at]) + std::log(now.values[at + 1]) -
                      std::log(base.values[at]) - std::log(base.values[at + 1])) /
                     2;
    if (!std::isfinite(log)) return {};
    logs.push_back(log);
  }
  return logs;
}

struct OneDuet {
  std::vector<double> logs{}, base{}, now{};  ///< by pair of ranks
};

}  // namespace

DuetValues duets_of(const Case& base, const Case& now, const std::string& metric) {
  std::map<RecordPlace, const LaunchRecord*> of_now;
  for (const auto& record : now.launches) of_now.emplace(place_of(record), &record);
  std::map<int, OneDuet> duets;
  for (const auto& record : base.launches) {
    const auto* blocks = blocks_of(record, metric);
    const auto other = of_now.find(place_of(record));
    if (blocks == nullptr || other == of_now.end()) continue;
    const auto* others = blocks_of(*other->second, metric);
    if (others == nullptr || other->second->duet->id != record.duet->id) continue;
    const auto quads = quads_of(*blocks, *others);
    if (quads.empty()) continue;
    auto& duet = duets[record.launch];
    duet.logs.push_back(trimmed_mean(quads));
    duet.base.push_back(median(blocks->values));
    duet.now.push_back(median(others->values));
  }
  DuetValues values;
  for (const auto& [launch, duet] : duets) {
    values.logs.push_back(mean(duet.logs));
    values.base.push_back(median(duet.base));
    values.now.push_back(median(duet.now));
    values.launches.push_back(launch);
  }
  return values;
}

DuetValues first_duets(const DuetValues& duets, int launch) {
  auto first = duets;
  const auto count = static_cast<std::size_t>(std::ranges::lower_bound(duets.launches, launch) -
                                              duets.launches.begin());
  first.launches.resize(count);
  for (auto* values : {&first.logs, &first.base, &first.now}) values->resize(count);
  return first;
}

}  // namespace ucxbench
