#include "harness/launch/launched_by.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "harness/core/text.hpp"

namespace ucxbench {
namespace {

std::optional<int> number_of(const Variables& environment, const char* name) {
  const auto variable = environment.find(name);
  return variable == environment.end() ? std::nullopt : number_in<int>(variable->second);
}

// Of launchers that give their processes neither PMIx nor Slurm's variables: MPICH's and Intel
// MPI's hydra (which Flux and srun --mpi=pmi2 speak, too), MVAPICH2's mpirun_rsh, Flux.
constexpr std::array<std::pair<const char*, const char*>, 3> places_by_name = {
    {{"PMI_RANK", "PMI_SIZE"},
     {"MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE"},
     {"FLUX_TASK_RANK", "FLUX_JOB_SIZE"}}};

LaunchedBy by_others(const Variables& environment) {
  for (const auto& [rank, size] : places_by_name) {
    if (const auto of = number_of(environment, size)) {
      return {LaunchedBy::Kind::other, number_of(environment, rank).value_or(-1), *of, size};
    }
  }
  return {};
}

LaunchedBy by_pmix_or_slurm(const Variables& environment) {
  // In a shell of an allocation (salloc, sbatch) Slurm sets most of its variables as well.
  const auto tasks = number_of(environment, "SLURM_STEP_NUM_TASKS").value_or(0);
  const auto of_mpirun = number_of(environment, "OMPI_COMM_WORLD_SIZE").value_or(0);
  if (std::max(of_mpirun, tasks) == 1) return {};
  if (const auto rank = number_of(environment, "PMIX_RANK");
      rank && environment.contains("PMIX_NAMESPACE")) {
    return {LaunchedBy::Kind::pmix, *rank, of_mpirun, "OMPI_COMM_WORLD_SIZE"};
  }
  const auto task = number_of(environment, "SLURM_PROCID");
  if (tasks > 1 && task) return {LaunchedBy::Kind::slurm, *task, tasks, ""};
  return {};
}

}  // namespace

LaunchedBy launched_by(const Variables& environment) {
  using enum LaunchedBy::Kind;
  const auto served = by_pmix_or_slurm(environment);
  const auto rival = by_others(environment);
  if (rival.kind == nobody) return served;
  // Two that name the same processes are one: srun --mpi=pmi2, Flux with PMIx.
  const bool same = served.rank == rival.rank && (served.size == rival.size || served.size == 0);
  if (served.kind != nobody && same) {
    return {served.kind, rival.rank, rival.size, rival.variable};
  }
  if (rival.size > 1) return rival;
  // It has started this process alone, unless mpirun stands between.
  return served.kind == pmix && served.size > 1 ? served : LaunchedBy{};
}

}  // namespace ucxbench
