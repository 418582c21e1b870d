#pragma once

#include <fmt/format.h>

#include <functional>
#include <optional>
#include <span>
#include <string>

#include "harness/comm/communicator.hpp"
#include "harness/run/benchmark.hpp"
#include "workloads/common/calibration.hpp"
#include "workloads/common/memory.hpp"
#include "workloads/common/parameters.hpp"
#include "workloads/common/record.hpp"

namespace ucxbench {

/// A workload on one rank, ready to run: what the loop below needs of it.
struct PreparedWorkload {
  /// All memory that messages are received into. It is poisoned before each run, so that what was
  /// there before passes for nothing; so may be more, which a run makes anew.
  std::vector<Buffer> received;
  ExchangeAlone alone;
  /// One run; none has had its number before, and its data depend on that.
  std::function<Iteration(std::uint32_t number, TransferLog* log)> run;
  /// What was wrong with the last run, in words, or nothing. Each call is one check.
  std::function<std::string()> verify;
  /// On rank 0, adds what else is known of a pair that the run file has.
  std::function<void(Json& pair)> describe_pair{};
};

/// A workload's rank side: meets the others, and carries out `run_cases` over one communicator. The
/// cases of a launch agree in all but what is the workload's own: `parameters` are any one's.
void run_workload(RankContext& context, const WorkloadParameters& parameters,
                  const std::function<void(Communicator&, WorkloadMemory&)>& run_cases);

/// Calibrates, warms up, measures and verifies one case on this rank, and reports it from rank 0.
/// `input_bytes` of all ranks. All ranks call it together.
void measure_workload(RankContext& context, Communicator& comm, std::size_t index,
                      const WorkloadParameters& parameters, std::span<const Phase> phases,
                      std::uint64_t input_bytes, const PreparedWorkload& workload);

}  // namespace ucxbench
