// A suite's TOML and a site's, which are read from files.

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>

#include "bench/cli/plan/expect_file.hpp"
#include "bench/cli/plan/suite_file.hpp"
#include "ci/fuzz/refusal.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ucxbench;
  const int memory = ::memfd_create("input", 0);
  if (memory < 0 || ::write(memory, data, size) != static_cast<ssize_t>(size)) std::abort();
  const auto file = fmt::format("/proc/self/fd/{}", memory);
  read_or_refuse([&] { read_suite(file); });
  read_or_refuse([&] { read_site(file); });
  ::close(memory);
  return 0;
}
