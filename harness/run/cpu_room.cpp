#include "harness/run/cpu_room.hpp"

#include <algorithm>

namespace ucxbench {

bool CpuRoom::add(const std::string& machine, const std::vector<int>& cpus, int threads) {
  auto& there = machines_[machine];
  for (int at = 0; at < threads && all_have_room_; ++at) {
    there.threads.push_back(cpus);
    std::vector<int> asked;
    all_have_room_ = seat(there, there.threads.size() - 1, asked);
  }
  return all_have_room_;
}

// A free CPU, or one whose thread finds another (augmenting paths of a bipartite matching).
bool CpuRoom::seat(Machine& machine, std::size_t thread, std::vector<int>& asked) {
  for (const auto cpu : machine.threads[thread]) {
    if (std::ranges::find(asked, cpu) != asked.end()) continue;
    asked.push_back(cpu);
    const auto taken = machine.taken.find(cpu);
    if (taken != machine.taken.end() && !seat(machine, taken->second, asked)) continue;
    machine.taken[cpu] = thread;
    return true;
  }
  return false;
}

}  // namespace ucxbench
