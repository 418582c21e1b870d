// The rank side of the transpose.

#include "workloads/transpose/rank.hpp"

#include "workloads/common/rank.hpp"
#include "workloads/transpose/transpose.hpp"

namespace ucxbench::transpose {

void run_rank(RankContext& context) {
  const auto cases = context.cases<Parameters>();
  const auto run_cases = [&](Communicator& comm, WorkloadMemory& memory) {
    for (const auto& [index, p] : cases) {
      context.rendezvous().phase("making the array");
      Transpose transpose(comm, context.clock(), memory, p);
      measure_workload(context, comm, index, p, Transpose::phases, input_bytes(p),
                       {.received = transpose.received(),
                        .alone = transpose.exchange_alone(),
                        .run = [&](std::uint32_t number,
                                   TransferLog* log) { return transpose.run(number, log); },
                        .verify = [&] { return transpose.verify(); }});
    }
  };
  run_workload(context, cases.front().parameters, run_cases);
}

}  // namespace ucxbench::transpose
