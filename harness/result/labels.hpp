#pragma once

// Labels say what figures do not stand for. Each is written here alone: ranks put those of a launch
// into its record (run/gpu_sharing.hpp), and every output asks `labels_of`.

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "harness/core/names.hpp"
#include "harness/result/result.hpp"

namespace ucxbench {

/// Of a case.
enum class Label {
  interrupted,   ///< the run was ended in its middle
  same_gpu,      ///< ranks share a GPU
  time_sliced,   ///< these take turns on it: no CUDA MPS, or nobody knows
  emulated_gpu,  ///< the tests' own driver
  soft_roce,     ///< RDMA by the kernel's software
};

inline constexpr Names<Label, 5> label_names = {{{Label::interrupted, "interrupted"},
                                                 {Label::same_gpu, "same-gpu"},
                                                 {Label::time_sliced, "time-sliced"},
                                                 {Label::emulated_gpu, "emulated-gpu"},
                                                 {Label::soft_roce, "soft-roce"}}};

std::string to_string(Label label);

/// Whether a launch's record (LaunchRecord::path) or a case has it.
bool has_label(const Json& path, Label label);
bool has_label(const Case& of, Label label);

/// Whether its times are those of processes that take turns on one GPU: they say nothing of UCX,
/// links or kernels, so no verdict, bound or advice follows from them.
inline bool is_time_sliced(const Case& of) { return has_label(of, Label::time_sliced); }

/// The machine's: "vm", "oversubscribed". Each once, on one line, as in all of these lists.
std::vector<std::string> labels_of_machine(const Result& result);

/// All that stand beside a case's figures: the machine's, then its own.
std::vector<std::string> labels_of(const Result& result, const Case& of);

/// The same of a whole run: those of the machine and of all its cases.
std::vector<std::string> labels_of(const Result& result);

/// Adds the time-sliced label to the cases of a run whose file does not say whether MPS was in use.
void add_labels_of_older(Result& run);

}  // namespace ucxbench
