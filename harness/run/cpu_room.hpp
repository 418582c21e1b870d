#pragma once

#include <map>
#include <string>
#include <vector>

namespace ucxbench {

/// Of processes that are on some machines at once, each with the CPUs that it may run on, whatever
/// a launcher had meant to give them: whether each has a CPU to itself for each of its threads.
class CpuRoom {
 public:
  /// One more process. Whether all have room still.
  bool add(const std::string& machine, const std::vector<int>& cpus, int threads);

 private:
  struct Machine {
    std::vector<std::vector<int>> threads;  ///< CPUs that each may take
    std::map<int, std::size_t> taken;       ///< by CPU: the thread that has it
  };
  static bool seat(Machine& machine, std::size_t thread, std::vector<int>& asked);

  std::map<std::string, Machine> machines_;
  bool all_have_room_ = true;
};

}  // namespace ucxbench
