// A suite's TOML and a site's, which are read from files.

#include <cstddef>
#include <cstdint>

#include "bench/cli/plan/expect_file.hpp"
#include "bench/cli/plan/suite_file.hpp"
#include "ci/fuzz/in_memory.hpp"
#include "ci/fuzz/refusal.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ucxbench;
  const InMemory file(data, size);
  read_or_refuse([&] { read_suite(file.path()); });
  read_or_refuse([&] { read_site(file.path()); });
  return 0;
}
