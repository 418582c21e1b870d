// What an interrupted search of `tune` has kept.

#include <cstddef>
#include <cstdint>
#include <string>

#include "bench/cli/commands/tune_state.hpp"
#include "ci/fuzz/in_memory.hpp"
#include "ci/fuzz/refusal.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ucxbench;
  const InMemory file(data, size);
  read_or_refuse([&] {
    const TuneState state(file.path(), "pingpong", "1.22.0", "vm-1");
    state.confirmation({{"UCX_RNDV_THRESH", "64k"}}, {"pingpong"});
  });
  return 0;
}
