#include "harness/run/benchmark.hpp"

#include "workloads/merge/rank.hpp"

namespace ucxbench::merge {
namespace {

[[maybe_unused]] const bool registered = register_benchmark({
    .name = "merge",
    .summary = "two tables, hash-partitioned, exchanged by all ranks and joined",
    .run_rank = run_rank,
});

}  // namespace
}  // namespace ucxbench::merge
