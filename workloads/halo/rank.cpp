// The rank side of the halo exchange.

#include "workloads/halo/rank.hpp"

#include "workloads/common/rank.hpp"
#include "workloads/halo/halo.hpp"

namespace ucxbench::halo {

void run_rank(RankContext& context) {
  const auto cases = context.cases<Parameters>();
  const auto run_cases = [&](Communicator& comm, WorkloadMemory& memory) {
    for (const auto& [index, p] : cases) {
      context.rendezvous().phase("making the tiles");
      Halo halo(comm, context.clock(), memory, p);
      measure_workload(
          context, comm, index, p, Halo::phases, input_bytes(p),
          {.received = halo.received(),
           .alone = halo.exchange_alone(),
           .run = [&](std::uint32_t number, TransferLog* log) { return halo.run(number, log); },
           .verify = [&] { return halo.verify(); }});
    }
  };
  run_workload(context, cases.front().parameters, run_cases);
}

}  // namespace ucxbench::halo
