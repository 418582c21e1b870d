#include "ci/cuda-emulator/link_counters.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace emulator {
namespace {

void* counters_memory(std::size_t bytes) {
  const char* path = std::getenv("CUDA_EMULATOR_COUNTERS");
  int fd = -1;
  if (path != nullptr && *path != '\0') {
    fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0 || ftruncate(fd, static_cast<off_t>(bytes)) != 0) {
      std::fprintf(stderr, "cuda-emulator: CUDA_EMULATOR_COUNTERS=%s: %s\n", path,
                   std::strerror(errno));
      std::abort();
    }
  }
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                      MAP_SHARED | (fd < 0 ? MAP_ANONYMOUS : 0), fd, 0);
  if (memory == MAP_FAILED) std::abort();
  if (fd >= 0) close(fd);
  return memory;
}

}  // namespace

std::array<LinkCounters, MAX_DEVICES>& link_counters() {
  using Counters = std::array<LinkCounters, MAX_DEVICES>;
  // Zeroes of the operating system are zeroes of the counters; a file's old values stay.
  static auto& counters = *static_cast<Counters*>(counters_memory(sizeof(Counters)));
  return counters;
}

}  // namespace emulator
