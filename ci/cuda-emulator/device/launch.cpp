#include "ci/cuda-emulator/device/launch.hpp"

#include <cstdlib>
#include <numeric>
#include <vector>

#include "ci/cuda-emulator/device/accesses.hpp"
#include "ci/cuda-emulator/device/block.hpp"
#include "ci/cuda-emulator/device/random.hpp"

namespace emulator {
namespace {

Grid the_grid;
Dimensions the_block;
std::vector<Dimensions> the_threads;  // by their numbers
void (*the_body)(const void*);
const void* the_arguments;

Random& drawn() {
  static Random random([] {
    const char* seed = std::getenv("CUDA_EMULATOR_SEED");
    return seed == nullptr ? 1 : std::strtoull(seed, nullptr, 10);
  }());
  return random;
}

std::string in_words(const Dimensions& index) {
  return "(" + std::to_string(index.x) + ", " + std::to_string(index.y) + ", " +
         std::to_string(index.z) + ")";
}

Dimensions index_of(std::uint64_t number, const Dimensions& of) {
  return {static_cast<unsigned>(number % of.x), static_cast<unsigned>(number / of.x % of.y),
          static_cast<unsigned>(number / of.x / of.y)};
}

}  // namespace

Dimensions grid_size() { return the_grid.blocks; }
Dimensions block_size() { return the_grid.threads; }
Dimensions block_index() { return the_block; }
Dimensions thread_index() { return the_threads[block().thread()]; }
unsigned thread_number() { return block().thread(); }
void meet(const Meeting& meeting, bool is_barrier) { block().meet(meeting, is_barrier); }
LaneValues meet_lanes(const Meeting& meeting, std::uint64_t value, bool is_barrier) {
  return block().meet_lanes(meeting, value, is_barrier);
}
void about_to_change([[maybe_unused]] const void* word, [[maybe_unused]] std::size_t bytes,
                     [[maybe_unused]] const void* code) {
  block().maybe_pause();
#if !defined(__SANITIZE_ADDRESS__)  // which judges addresses itself, and is all that does
  accesses().used(reinterpret_cast<std::uintptr_t>(word), bytes, Use::ATOMIC, code);
#endif
}
void read_by_all(const void* shared, std::size_t bytes) {
  accesses().read_by_all(reinterpret_cast<std::uintptr_t>(shared), bytes);
}
void fail(const char* what) { block().fail(what); }

Outcome run_grid(const Grid& grid, std::span<const Range> ranges, void (*body)(const void*),
                 const void* arguments) {
  the_grid = grid;
  the_body = body;
  the_arguments = arguments;
  auto& random = drawn();
  const auto threads = grid.threads.x * grid.threads.y * grid.threads.z;
  the_threads.clear();
  for (unsigned thread = 0; thread < threads; ++thread) {
    the_threads.push_back(index_of(thread, grid.threads));
  }
  const auto blocks = std::uint64_t{grid.blocks.x} * grid.blocks.y * grid.blocks.z;
  // Every block once, each so many numbers on from the one before.
  auto stride = 1 + random.below(blocks);
  while (std::gcd(stride, blocks) != 1) stride = 1 + random.below(blocks);
  auto number = random.below(blocks);
  block().begin_launch();
  accesses().begin_launch(ranges);
  Outcome outcome;
  for (std::uint64_t done = 0; done < blocks && outcome.mistake.empty(); ++done) {
    the_block = index_of(number, grid.blocks);
    accesses().begin_block(random);
    if (!block().run(threads, [] { the_body(the_arguments); }, random)) {
      outcome = {.mistake = "block " + in_words(the_block) + ": " + block().mistake(),
                 .out_of_bounds = accesses().out_of_bounds()};
    }
    number = (number + stride) % blocks;
  }
  return outcome;
}

}  // namespace emulator
