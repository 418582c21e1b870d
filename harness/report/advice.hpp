#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "harness/analysis/advice.hpp"
#include "harness/analysis/limits/pick.hpp"

namespace ucxbench {

/// What is not advised and why, what is not measured, and the command that would measure it: a
/// sentence each, in every format that has comments.
std::vector<std::string> remarks_on(const Advice& advice);

/// The command that would decide about a lever.
std::string measured_with(const Advice& advice, Lever lever);

/// "1.52 x as fast (1.41..1.60): KEY against KEY".
std::string in_words(const Gain& gain);

/// What to set, what each setting gained, and which findings it follows from; with `pick`, what
/// that gains.
std::string advice_text(const Advice& advice, const std::optional<Pick>& pick);

/// To be sourced by a POSIX shell that then executes the program: UCX_* by the number that mpirun,
/// srun or PMIx gave the process on its host, and its CPUs by taskset.
std::string advice_env(const Advice& advice);

/// {host, hosts, labels, ranks: [{rank, gpu, nic, cpus, net_devices}], settings: [{setting, value,
/// why_not, gain: {case, against, times, interval}, measure_with}], findings: [{id, subject,
/// setting}], bandwidths: [{class, pairs, p50_GBps, case}], remarks}.
Json advice_json(const Advice& advice);

/// YAML for Dask with distributed-ucxx, none of whose options tcp, nvlink and infiniband is set:
/// each replaces UCX_TLS by a list without shared memory (0.46 to 0.52). `bandwidths` is the file
/// with what it has no place for.
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
