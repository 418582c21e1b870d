// The rank side of the mixture of experts.

#include "workloads/moe/rank.hpp"

#include "workloads/common/rank.hpp"
#include "workloads/moe/moe.hpp"

namespace ucxbench::moe {

void run_rank(RankContext& context) {
  const auto cases = context.cases<Parameters>();
  const auto run_cases = [&](Communicator& comm, WorkloadMemory& memory) {
    for (const auto& [index, p] : cases) {
      context.rendezvous().phase("making the tokens");
      Moe moe(comm, context.clock(), memory, p);
      measure_workload(
          context, comm, index, p, Moe::phases, input_bytes(p),
          {.received = moe.received(),
           .alone = moe.exchange_alone(),
           .run = [&](std::uint32_t number, TransferLog* log) { return moe.run(number, log); },
           .verify = [&] { return moe.verify(); }});
    }
  };
  run_workload(context, cases.front().parameters, run_cases);
}

}  // namespace ucxbench::moe
