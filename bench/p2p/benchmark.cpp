#include "harness/run/benchmark.hpp"

#include "bench/p2p/rank.hpp"

namespace ucxbench::p2p {
namespace {

[[maybe_unused]] const bool registered = register_benchmark({
    .name = "p2p",
    .summary = "what every rank reaches to every other, alone and all at once",
    .run_rank = run_rank,
});

}  // namespace
}  // namespace ucxbench::p2p
