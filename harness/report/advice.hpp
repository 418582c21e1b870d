#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "harness/analysis/advice.hpp"
#include "harness/analysis/limits/pick.hpp"
#include "harness/core/names.hpp"

namespace ucxbench {

/// What is not advised and why, what is not measured, and the command that would measure it: a
/// sentence each.
std::vector<std::string> remarks_on(const Advice& advice);

/// These, and each advised setting with what it gained, for formats without tables of them.
std::vector<std::string> said_beside(const Advice& advice);

/// The command that would decide about a lever.
std::string measured_with(const Advice& advice, Lever lever);

/// "1.52 x as fast (1.41..1.60): KEY against KEY".
std::string in_words(const Gain& gain);

/// "between hosts, cuda memory", "within a host, cuda memory, class NV2".
std::string in_words(const ClassBandwidth& of);

/// What to set, what each setting gained, and which findings it follows from; with `pick`, what
/// that gains.
std::string advice_text(const Advice& advice, const std::optional<Pick>& pick);

/// To be sourced by a POSIX shell that then executes the program: UCX_* by the number that mpirun,
/// srun or PMIx gave the process on its host, and its CPUs by taskset.
std::string advice_env(const Advice& advice);

/// {host, hosts, labels, spoiled_sets: [{set, why, case, evidence}], ranks: [{rank, gpu, nic, cpus,
/// net_devices}], settings: [{setting, value, why_not, gain: {case, against, times, interval},
/// measure_with}], findings: [{id, subject, setting}], bandwidths: [{class, between_hosts, memory,
/// pairs, p50_GBps, case}], remarks}.
Json advice_json(const Advice& advice);

/// YAML for Dask with distributed-ucxx, none of whose options tcp, nvlink and infiniband is set:
/// each replaces UCX_TLS by a list without shared memory (0.46 to 0.52). `bandwidths` is the file
/// with what it has no place for.
std::string advice_dask(const Advice& advice, const std::string& bandwidths);

// Each throws Failure(Exit::usage) where the CPUs of a rank are not known.

/// Of Open MPI 4, with the operating system's CPU numbers.
std::string advice_rankfile(const Advice& advice);

/// One line of options, which has no place for remarks.
std::string advice_srun(const Advice& advice);

/// "0,3,2,1", CUDA's numbers of the ranks' GPUs in the order of the bus; empty where they are not
/// known, are just all GPUs in that order, or two ranks have one.
std::string visible_devices(const Advice& advice);

enum class AdviceFormat { text, env, dask, rankfile, srun, json };
inline constexpr Names<AdviceFormat, 6> advice_formats = {{{AdviceFormat::text, "text"},
                                                           {AdviceFormat::env, "env"},
                                                           {AdviceFormat::dask, "dask"},
                                                           {AdviceFormat::rankfile, "rankfile"},
                                                           {AdviceFormat::srun, "srun"},
                                                           {AdviceFormat::json, "json"}}};

/// Advice in a format, and what there is no place for in it, a sentence each.
struct AdviceText {
  std::string text;
  std::vector<std::string> beside{};
};
AdviceText rendered(AdviceFormat format, const Advice& advice, const std::optional<Pick>& pick,
                    const std::string& bandwidths);

}  // namespace ucxbench
