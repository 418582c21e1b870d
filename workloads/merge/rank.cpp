// The rank side of the merge.

#include "workloads/merge/rank.hpp"

#include "workloads/common/rank.hpp"
#include "workloads/merge/merge.hpp"

namespace ucxbench::merge {
namespace {

void run_cases(RankContext& context, Communicator& comm, WorkloadMemory& memory) {
  for (const auto& entry : context.plan().at("cases")) {
    const auto p = parse_parameters(entry.at("parameters"));
    context.rendezvous().phase("making the tables");
    Merge merge(comm, context.clock(), memory, p);
    measure_workload(
        context, comm, entry.at("index").get<std::size_t>(), p.common, Merge::phases,
        input_bytes(p) * static_cast<std::uint64_t>(comm.size()),
        {.gpu = memory.gpu(),
         .exchange_alone_GBps = [&] { return merge.exchange_alone_GBps(); },
         .run = [&](std::uint32_t number, TransferLog* log) { return merge.run(number, log); },
         .verify = [&] { return merge.verify(); }});
  }
}

}  // namespace

void run_rank(RankContext& context) { run_workload(context, run_cases); }

}  // namespace ucxbench::merge
