#pragma once

#include <memory>

#include "workloads/merge/cpu_rows.hpp"
#include "workloads/merge/kernels.hpp"

namespace ucxbench::merge {

/// The kernels on the CPU, with these loops over rows.
std::unique_ptr<Kernels> make_cpu_kernels(Kernels::Progress progress, const RowCode& code);

}  // namespace ucxbench::merge
