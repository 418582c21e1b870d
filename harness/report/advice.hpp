#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "harness/analysis/advice.hpp"
#include "harness/analysis/limits/pick.hpp"

namespace ucxbench {

/// What to set, and which findings each setting follows from; with `pick`, what that gains.
std::string advice_text(const Advice& advice, const std::optional<Pick>& pick);

/// To be sourced by a POSIX shell that then executes the program: UCX_* by the number that mpirun,
/// srun or PMIx gave the process on its host, and its CPUs by taskset.
std::string advice_env(const Advice& advice);

/// YAML for Dask with distributed-ucxx; `bandwidths` is the file with what it has no place for.
std::string advice_dask(const Advice& advice, const std::string& bandwidths);

// Each throws Failure(Exit::usage) where the CPUs of a rank are not known.

/// Of Open MPI 4, with the operating system's CPU numbers.
std::string advice_rankfile(const Advice& advice);

/// One line of options.
std::string advice_srun(const Advice& advice);

/// "0,3,2,1", CUDA's numbers of the ranks' GPUs in the order of the bus; empty where they are not
/// known, are just all GPUs in that order, or two ranks have one.
std::string visible_devices(const Advice& advice);

}  // namespace ucxbench
