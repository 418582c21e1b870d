// The rank side of the SVD.

#include "workloads/svd/rank.hpp"

#include "workloads/common/rank.hpp"
#include "workloads/svd/cusolver.hpp"
#include "workloads/svd/lapack.hpp"
#include "workloads/svd/svd.hpp"

namespace ucxbench::svd {

void run_rank(RankContext& context) {
  // Before anybody connects: without it nothing can run, and the run file has the libraries that
  // are loaded by then.
  const auto cases = context.cases<Parameters>();
  if (on_gpu(cases.front().parameters.kind())) {
    Cusolver::get();
  } else {
    Lapack::get();
  }
  const auto run_cases = [&](Communicator& comm, WorkloadMemory& memory) {
    for (const auto& [index, p] : cases) {
      context.rendezvous().phase("making the array");
      Svd svd(comm, context.clock(), memory, p);
      measure_workload(
          context, comm, index, p, svd.phases(), input_bytes(p),
          {.received = svd.received(),
           .alone = svd.exchange_alone(),
           .run = [&](std::uint32_t number, TransferLog* log) { return svd.run(number, log); },
           .verify = [&] { return svd.verify(); }});
    }
  };
  run_workload(context, cases.front().parameters, run_cases);
}

}  // namespace ucxbench::svd
