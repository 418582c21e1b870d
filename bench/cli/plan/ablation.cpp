#include "bench/cli/plan/ablation.hpp"

namespace ucxbench {

std::vector<TransportSet> ablation_sets(const UcxResources& ucx, bool gpu_memory) {
  std::vector<std::string> members;
  for (const auto& [name, tls, description] : transport_names()) {
    if (name == "self" || name == "auto" || (name == "nvlink" && !gpu_memory)) continue;
    if (missing(TransportSet::parse(name), ucx).empty()) members.emplace_back(name);
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
  return set.members().size() == 1 && (set.has("tcp") || set.has("shm"));
}

}  // namespace ucxbench
