#include "harness/run/benchmark.hpp"

#include "bench/pingpong/rank.hpp"

namespace ucxbench::pingpong {
namespace {

[[maybe_unused]] const bool registered = register_benchmark({
    .name = "pingpong",
    .summary = "latency and bandwidth between two ranks, over sizes",
    .run_rank = run_rank,
});

}  // namespace
}  // namespace ucxbench::pingpong
