// What the compiler calls in the kernels: before every use of memory (-fsanitize=thread, whose
// runtime library this is in place of), and where an index is outside of its array
// (-fsanitize=bounds).

#include <cstddef>
#include <cstdint>
#include <string>

#include "ci/cuda-emulator/device/accesses.hpp"
#include "ci/cuda-emulator/device/block.hpp"

#if !defined(__SANITIZE_ADDRESS__)  // where its own runtime library is there

using emulator::Use;

namespace {

auto& all = emulator::accesses();

}  // namespace

#define CALLED_BY_KERNELS extern "C" __attribute__((visibility("hidden"))) void

#define USED(address, bytes, use) \
  all.used(reinterpret_cast<std::uintptr_t>(address), bytes, Use::use, __builtin_return_address(0))

#define USES_OF(bytes)                                                                          \
  CALLED_BY_KERNELS __tsan_read##bytes(void* address) { USED(address, bytes, READ); }           \
  CALLED_BY_KERNELS __tsan_write##bytes(void* address) { USED(address, bytes, WRITE); }         \
  CALLED_BY_KERNELS __tsan_unaligned_read##bytes(void* address) { USED(address, bytes, READ); } \
  CALLED_BY_KERNELS __tsan_unaligned_write##bytes(void* address) { USED(address, bytes, WRITE); }

USES_OF(1)
USES_OF(2)
USES_OF(4)
USES_OF(8)
USES_OF(16)

CALLED_BY_KERNELS __tsan_read_range(void* address, std::size_t bytes) {
  USED(address, bytes, READ);
}
CALLED_BY_KERNELS __tsan_write_range(void* address, std::size_t bytes) {
  USED(address, bytes, WRITE);
}
CALLED_BY_KERNELS __tsan_init() {}

// The begin of what GCC passes: struct ubsan_source_location.
struct BoundsData {
  const char* file;
  std::uint32_t line, column;
};

CALLED_BY_KERNELS __ubsan_handle_out_of_bounds(BoundsData* data, void* index) {
  if (!emulator::block().in_thread()) return;
  emulator::block().fail("uses index " + std::to_string(reinterpret_cast<std::uintptr_t>(index)) +
                         " of an array that is shorter, in line " + std::to_string(data->line) +
                         " of " + data->file);
}

#endif
