#include "harness/run/benchmark.hpp"

#include "workloads/transpose/rank.hpp"

namespace ucxbench::transpose {
namespace {

[[maybe_unused]] const bool registered = register_benchmark({
    .name = "transpose",
    .summary = "a distributed array plus its transpose",
    .run_rank = run_rank,
});

}  // namespace
}  // namespace ucxbench::transpose
