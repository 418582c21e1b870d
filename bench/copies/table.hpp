#pragma once

#include <string>

#include "bench/copies/gpu_copies.hpp"
#include "harness/core/json.hpp"

namespace ucxbench::copies {

/// For people: a row for each GPU and NUMA node, and a matrix of GPUs.
std::string table_of(const Copies& copies);

/// For programs, with the members bytes, copies, emulated, gpus, host and between.
Json to_json(const Copies& copies);

}  // namespace ucxbench::copies
