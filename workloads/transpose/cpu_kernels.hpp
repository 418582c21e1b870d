#pragma once

#include <memory>

#include "workloads/transpose/cpu_square.hpp"
#include "workloads/transpose/kernels.hpp"

namespace ucxbench::transpose {

/// The kernels on the CPU, with this code for squares.
std::unique_ptr<Kernels> make_cpu_kernels(Kernels::Progress progress, const SquareCode& code);

}  // namespace ucxbench::transpose
