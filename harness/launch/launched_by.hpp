#pragma once

#include <string>

#include "harness/launch/environment.hpp"

namespace ucxbench {

/// What has started this process, and others like it, as far as the environment says it.
struct LaunchedBy {
  enum class Kind {
    nobody,  ///< or it has started this one alone
    pmix,    ///< one that speaks PMIx: Open MPI's mpirun, srun --mpi=pmix
    slurm,   ///< srun
    other    ///< one whose processes cannot find each other here, as MPICH's hydra
  };
  Kind kind = Kind::nobody;
  int rank = 0;
  int size = 1;          ///< 0: only PMIx itself can say it
  std::string variable;  ///< that tells the size, "PMI_SIZE"; empty: of Slurm
};

/// Launchers start each other (hydra starts its proxies by srun, mpirun its daemons), and variables
/// of the outer ones stay: what is nearest to this process counts.
LaunchedBy launched_by(const Variables& environment);

}  // namespace ucxbench
