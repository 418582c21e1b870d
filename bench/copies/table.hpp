#pragma once

#include <string>

#include "bench/copies/gpu_copies.hpp"
#include "harness/core/json.hpp"

namespace ucxbench::copies {

/// For people: a row for each GPU and NUMA node, and a matrix of GPUs.
std::string table_of(const Copies& copies);

/// For programs: bytes, copies, emulated, gpus, host, between.
Json to_json(const Copies& copies);

}  // namespace ucxbench::copies
