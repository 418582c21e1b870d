#include "harness/memory/pinned.hpp"

#include <fmt/format.h>
#include <linux/mempolicy.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>

#include "harness/core/failure.hpp"
#include "harness/core/files.hpp"
#include "harness/core/units.hpp"
#include "harness/memory/cuda_driver.hpp"

namespace ucxbench {
namespace {

constexpr int most_nodes = 1024;

std::vector<int> listed(const std::string& text) {
  return text.empty() ? std::vector<int>() : parse_list(text);
}

std::string allowed_nodes() {
  constexpr std::string_view name = "Mems_allowed_list:\t";
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with(name)) return line.substr(name.size());
  }
  return "";
}

// Before its first touch. The C library has no function for it, and libnuma's would be one more
// library for one call.
void bind_to(std::span<std::byte> bytes, int node) {
  constexpr int bits = CHAR_BIT * sizeof(unsigned long);
  std::array<unsigned long, most_nodes / bits> mask{};
  const auto at = static_cast<unsigned>(node);
  mask.at(at / bits) |= 1UL << at % bits;
  if (syscall(SYS_mbind, bytes.data(), bytes.size(), MPOL_BIND, mask.data(), most_nodes, 0) == 0) {
    return;
  }
  throw Failure(Exit::cannot_run,
                fmt::format("no memory can be bound to NUMA node {} (mbind: {}){}", node,
                            std::strerror(errno),
                            errno == EPERM ? "; a container needs the capability SYS_NICE" : ""));
}

}  // namespace

std::vector<int> memory_nodes() {
  const auto there = listed(first_line("/sys/devices/system/node/has_memory"));
  const auto allowed = listed(allowed_nodes());
  std::vector<int> both;
  std::ranges::set_intersection(there, allowed, std::back_inserter(both));
  return both;
}

PinnedMemory::PinnedMemory(std::size_t bytes, std::optional<int> node) {
  void* mapped = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) {
    throw Failure(Exit::cannot_run, fmt::format("no memory for a buffer of {}: {}",
                                                spaced_size(bytes), std::strerror(errno)));
  }
  bytes_ = {static_cast<std::byte*>(mapped), bytes};
  try {
    if (node) bind_to(bytes_, *node);
    std::ranges::fill(bytes_, std::byte{0});
    CudaDriver::get().pin(bytes_.data(), bytes_.size());
  } catch (...) {
    munmap(bytes_.data(), bytes_.size());
    throw;
  }
}

PinnedMemory::~PinnedMemory() {
  CudaDriver::get().unpin(bytes_.data());
  munmap(bytes_.data(), bytes_.size());
}

}  // namespace ucxbench
