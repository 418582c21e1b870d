#include "bench/cli/plan/ablation.hpp"

namespace ucxbench {

std::vector<TransportSet> ablation_sets(const UcxResources& ucx, bool gpu_memory) {
  std::vector<std::string> members;
  for (const auto& known : transports()) {
    const auto fabric = known.fabric;
    if (fabric == Fabric::process || fabric == Fabric::any ||
        (fabric == Fabric::gpu_links && !gpu_memory)) {
      continue;
    }
    if (missing(TransportSet::parse(known.name), ucx).empty()) members.emplace_back(known.name);
  }
  std::vector<TransportSet> sets;
  for (unsigned chosen = 1; chosen < 1U << members.size(); ++chosen) {
    std::vector<std::string> some;
    for (std::size_t i = 0; i < members.size(); ++i) {
      if ((chosen >> i & 1U) != 0) some.push_back(members[i]);
    }
    sets.push_back(TransportSet::of(some));
  }
  sets.push_back(TransportSet::parse("auto"));
  return sets;
}

bool ablates(CommKind comm, const TransportSet& set) {
  if (comm != CommKind::sockets) return true;
  return set.members().size() == 1 &&
         (set.names(Fabric::sockets) || set.names(Fabric::shared_memory));
}

}  // namespace ucxbench
