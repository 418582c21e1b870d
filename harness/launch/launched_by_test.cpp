#include "harness/launch/launched_by.hpp"

#include <gtest/gtest.h>

#include <ostream>

namespace ucxbench {
namespace {

using By = LaunchedBy::Kind;

struct Case {
  const char* what;
  Variables environment;  ///< what counts of one that was recorded in a process
  LaunchedBy::Kind kind;
  int rank = 0;
  int size = 1;
};

void PrintTo(const Case& of, std::ostream* out) { *out << of.what; }

Variables operator+(Variables a, const Variables& b) {
  a.insert(b.begin(), b.end());
  return a;
}

const Variables salloc_shell = {{"SLURM_JOB_ID", "2"}, {"SLURM_NTASKS", "2"}};

Variables step(int task, int tasks) {
  return salloc_shell + Variables{{"SLURM_STEP_ID", "0"},
                                  {"SLURM_PROCID", std::to_string(task)},
                                  {"SLURM_STEP_NUM_TASKS", std::to_string(tasks)}};
}

Variables pmi(int rank, int size) {
  return {{"PMI_FD", "6"}, {"PMI_RANK", std::to_string(rank)}, {"PMI_SIZE", std::to_string(size)}};
}

Variables pmix(int rank) {
  return {{"PMIX_NAMESPACE", "prterun-n1-77@1"}, {"PMIX_RANK", std::to_string(rank)}};
}

Variables mpirun(int rank, int size) {
  return pmix(rank) + Variables{{"OMPI_COMM_WORLD_RANK", std::to_string(rank)},
                                {"OMPI_COMM_WORLD_SIZE", std::to_string(size)}};
}

Variables flux(int rank, int size) {
  return pmi(rank, size) + Variables{{"FLUX_JOB_SIZE", std::to_string(size)},
                                     {"FLUX_TASK_RANK", std::to_string(rank)}};
}

class LaunchedByTable : public testing::TestWithParam<Case> {};

TEST_P(LaunchedByTable, IsWhatIsNearest) {
  const auto& of = GetParam();
  const auto by = launched_by(of.environment);
  EXPECT_EQ(by.kind, of.kind);
  if (of.kind == By::nobody) return;
  EXPECT_EQ(by.rank, of.rank);
  EXPECT_EQ(by.size, of.size);
}

INSTANTIATE_TEST_SUITE_P(
    Environments, LaunchedByTable,
    testing::Values(
        Case{"a shell", {}, By::nobody}, Case{"a shell of salloc", salloc_shell, By::nobody},
        Case{"srun --pty bash", step(0, 1), By::nobody}, Case{"srun", step(2, 3), By::slurm, 2, 3},
        Case{"srun --mpi=pmi2", step(1, 2) + pmi(1, 2), By::slurm, 1, 2},
        Case{"srun --mpi=pmi2 -n 1", step(0, 1) + pmi(0, 1), By::nobody},
        Case{"srun --mpi=pmix", step(1, 2) + pmix(1), By::pmix, 1, 0},
        Case{"srun --mpi=pmix -n 1", step(0, 1) + pmix(0), By::nobody},
        Case{"mpirun", mpirun(3, 4), By::pmix, 3, 4},
        Case{"mpirun -np 1", mpirun(0, 1), By::nobody},
        Case{"mpirun in an allocation", step(1, 2) + mpirun(3, 4), By::pmix, 3, 4},
        Case{"mpirun in srun --pty bash", step(0, 1) + mpirun(0, 2), By::pmix, 0, 2},
        Case{"hydra", pmi(1, 4), By::other, 1, 4}, Case{"hydra -n 1", pmi(0, 1), By::nobody},
        Case{"hydra in an allocation, proxies by srun", step(1, 2) + pmi(3, 4), By::other, 3, 4},
        Case{"the same, its first rank", step(0, 2) + pmi(0, 4), By::other, 0, 4},
        Case{"the same on one node", step(0, 1) + pmi(2, 4), By::other, 2, 4},
        Case{"the same, a rank for each node", step(1, 2) + pmi(1, 2), By::slurm, 1, 2},
        Case{"the same, nodes in another order", step(1, 2) + pmi(0, 2), By::other, 0, 2},
        Case{"hydra -n 1 in a step", step(1, 2) + pmi(0, 1), By::nobody},
        Case{"hydra in srun --mpi=pmix --pty bash", step(0, 1) + pmix(0) + pmi(0, 4), By::other, 0,
             4},
        Case{"hydra in srun --mpi=pmix", step(1, 2) + pmix(1) + pmi(3, 4), By::other, 3, 4},
        Case{"hydra in a process of mpirun", mpirun(1, 2) + pmi(3, 4), By::other, 3, 4},
        Case{"mpirun in a process of hydra -n 1", pmi(0, 1) + mpirun(1, 2), By::pmix, 1, 2},
        Case{"Flux", flux(1, 4), By::other, 1, 4}, Case{"Flux -n 1", flux(0, 1), By::nobody},
        Case{"Flux in a step", step(0, 2) + flux(1, 4), By::other, 1, 4},
        Case{"Flux with PMIx", flux(1, 4) + pmix(1), By::pmix, 1, 4},
        Case{"mpirun_rsh",
             {{"MV2_COMM_WORLD_RANK", "1"}, {"MV2_COMM_WORLD_SIZE", "2"}},
             By::other,
             1,
             2},
        Case{"numbers that are none",
             {{"PMI_SIZE", "4x"}, {"SLURM_STEP_NUM_TASKS", "-"}},
             By::nobody}));

}  // namespace
}  // namespace ucxbench
