#include "workloads/replay/parameters.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <map>
#include <set>
#include <utility>

#include "harness/core/failure.hpp"
#include "harness/core/print.hpp"
#include "harness/core/units.hpp"
#include "harness/run/description.hpp"

namespace ucxbench::replay {

const Traffic& traffic_of(const Parameters& p) {
  static std::map<std::pair<std::string, std::string>, Traffic> known;
  const auto which = std::pair(p.log, p.named_case);
  const auto found = known.find(which);
  if (found != known.end()) return found->second;
  return known.emplace(which, read_traffic(p.log, p.named_case)).first->second;
}

int ranks_of(const Parameters& p) { return static_cast<int>(traffic_of(p).ranks.size()); }

void settle(Parameters& p) {
  const auto& traffic = traffic_of(p);
  static std::set<std::string> warned;
  if (warned.insert(p.log).second) {
    for (const auto& doubt : traffic.doubts) {
      print_to(stderr, "ucx-bench: warning: LOG '{}': {}\n", p.log, in_one_line(doubt));
    }
  }
  p.traffic = traffic.name;
  p.messages = traffic.messages;
  p.traffic_bytes = traffic.bytes;
  p.recorded_ms = static_cast<double>(traffic.wall_ns) * 1e-6;
}

void check(const Parameters& p, const Local& local) {
  check_workload(p);
  if (!on_host(p.kind())) return;
  // Assumes the same share on each host. Each byte takes memory at its sender and its receiver.
  const auto here = static_cast<double>(p.traffic_bytes) * 2 * local.ranks / p.ranks;
  if (here <= static_cast<double>(local.memory_bytes)) return;
  throw Failure(
      Exit::usage,
      fmt::format("LOG '{}': its messages need {}, more than the available memory, {}", p.log,
                  rough_size(static_cast<std::uint64_t>(here)), rough_size(local.memory_bytes)));
}

}  // namespace ucxbench::replay
