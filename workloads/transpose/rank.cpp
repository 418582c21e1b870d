// The rank side of the transpose.

#include "workloads/transpose/rank.hpp"

#include "workloads/common/rank.hpp"
#include "workloads/transpose/transpose.hpp"

namespace ucxbench::transpose {
namespace {

void run_cases(RankContext& context, Communicator& comm, WorkloadMemory& memory) {
  for (const auto& entry : context.plan().at("cases")) {
    const auto p = parse_parameters(entry.at("parameters"));
    context.rendezvous().phase("making the array");
    Transpose transpose(comm, context.clock(), memory, p);
    measure_workload(
        context, comm, entry.at("index").get<std::size_t>(), p.common, Transpose::phases,
        input_bytes(p),
        {.gpu = memory.gpu(),
         .exchange_alone_GBps = [&] { return transpose.exchange_alone_GBps(); },
         .run = [&](std::uint32_t number, TransferLog* log) { return transpose.run(number, log); },
         .verify = [&] { return transpose.verify(); }});
  }
}

}  // namespace

void run_rank(RankContext& context) { run_workload(context, run_cases); }

}  // namespace ucxbench::transpose
