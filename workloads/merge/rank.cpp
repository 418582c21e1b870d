// The rank side of the merge: one communicator and every case over it.

#include "workloads/common/rank.hpp"

#include <optional>

#include "harness/run/benchmark.hpp"
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

void run_rank(RankContext& context) {
  auto& rendezvous = context.rendezvous();
  const auto& planned = context.plan().at("cases");
  const auto first = parse_parameters(planned.at(0).at("parameters")).common;
  rendezvous.phase("starting");
  WorkloadMemory memory(first, rendezvous.rank());
  Communicator comm(rendezvous, {.connect_by = first.connect_by, .net_devices = first.net_devices});
  context.report_rank({{"net_devices", first.net_devices},
                       {"device", memory.device()},
                       {"ucx_effective", comm.effective()}},
                      [&] { comm.progress(); });
  try {
    run_cases(context, comm, memory);
  } catch (const Failure& failure) {
    rendezvous.abort(failure);
  }
  comm.close(rendezvous);
}

[[maybe_unused]] const bool registered = register_benchmark(
    {"merge", "two tables, hash-partitioned, exchanged by all ranks and joined", run_rank});

}  // namespace
}  // namespace ucxbench::merge
