#include "bench/cli/plan/plan.hpp"

#include <utility>

namespace ucxbench {

Plan begin_plan(CommandSetup setup, std::vector<TransportSet> sets,
                const TransportOptions& transports, const MemoryOptions& memory) {
  Plan plan;
  plan.setup = std::move(setup);
  plan.setup.ucx = key_values("--ucx", transports.ucx, "UCX_");
  plan.setup.strict = transports.strict;
  plan.ranks = {plan.setup.ranks};
  plan.sets = std::move(sets);
  plan.memory = memory.kinds();
  plan.devices = memory.gpus();
  plan.pool_bytes = memory.pool_bytes();
  plan.gdr = transports.gpu_direct();
  plan.net_devices = transports.net_devices;
  plan.require = transports.required(plan.sets);
  plan.allow_same_gpu = transports.allow_same_gpu;
  return plan;
}

}  // namespace ucxbench
