// The rank side of the merge.

#include "workloads/merge/rank.hpp"

#include "workloads/common/rank.hpp"
#include "workloads/merge/merge.hpp"

namespace ucxbench::merge {

void run_rank(RankContext& context) {
  const auto cases = context.cases<Parameters>();
  const auto run_cases = [&](Communicator& comm, WorkloadMemory& memory) {
    for (const auto& [index, p] : cases) {
      context.rendezvous().phase("making the tables");
      Merge merge(comm, context.clock(), memory, p);
      measure_workload(
          context, comm, index, p, Merge::phases,
          input_bytes(p) * static_cast<std::uint64_t>(comm.size()),
          {.received = merge.received(),
           .alone = merge.exchange_alone(),
           .run = [&](std::uint32_t number, TransferLog* log) { return merge.run(number, log); },
           .verify = [&] { return merge.verify(); }});
    }
  };
  run_workload(context, cases.front().parameters, run_cases);
}

}  // namespace ucxbench::merge
