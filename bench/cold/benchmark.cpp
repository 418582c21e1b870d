#include "harness/run/benchmark.hpp"

#include "bench/cold/rank.hpp"

namespace ucxbench::cold {
namespace {

[[maybe_unused]] const bool registered = register_benchmark({
    .name = "cold",
    .summary = "what first messages cost, and after how many a memory pool has paid",
    .run_rank = run_rank,
});

}  // namespace
}  // namespace ucxbench::cold
