#include "harness/memory/buffer.hpp"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <limits>
#include <string>
#include <utility>

#include "harness/core/activity.hpp"
#include "harness/core/failure.hpp"
#include "harness/core/text.hpp"
#include "harness/core/units.hpp"

namespace ucxbench {
namespace {

std::atomic<std::uint64_t> held{0};
std::atomic<std::uint64_t> peak{0};

std::uint64_t number_in(const std::string& path, std::uint64_t otherwise) {
  std::ifstream file(path);
  std::uint64_t value = 0;
  return file >> value ? value : otherwise;
}

// cgroup v2: the limit of the process's own group ("0::/path" in /proc/self/cgroup).
std::uint64_t cgroup_headroom() {
  constexpr auto unlimited = std::numeric_limits<std::uint64_t>::max();
  std::ifstream membership("/proc/self/cgroup");
  for (std::string line; std::getline(membership, line);) {
    if (!line.starts_with("0::")) continue;
    const auto folder = "/sys/fs/cgroup" + line.substr(3);
    const auto limit = number_in(folder + "/memory.max", unlimited);
    const auto used = number_in(folder + "/memory.current", 0);
    if (limit != unlimited) return limit > used ? limit - used : 0;
  }
  return unlimited;
}

}  // namespace

MemoryKind parse_memory_kind(std::string_view name) {
  if (name == "host") return MemoryKind::host;
  throw Failure(Exit::usage, "--memory: " + unknown_name("memory kind", name, {"host"}));
}

std::string_view to_string(MemoryKind) { return "host"; }

Buffer::Buffer(MemoryKind kind, std::size_t bytes) : kind_(kind), size_(bytes) {
  void* mapped = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) {
    throw Failure(Exit::cannot_run, fmt::format("no memory for a buffer of {}: {}",
                                                spaced_size(bytes), std::strerror(errno)));
  }
  data_ = static_cast<std::byte*>(mapped);
  // Every page is touched here, outside any clock; in steps, since gigabytes take as long as a
  // time-out.
  constexpr std::size_t page = 4096;
  constexpr std::size_t step = std::size_t{16} << 20U;
  for (std::size_t at = 0; at < bytes; at += page) {
    data_[at] = std::byte{0};
    if (at % step == 0) activity().bump();
  }
  const auto now = held.fetch_add(bytes) + bytes;
  auto before = peak.load();
  while (before < now && !peak.compare_exchange_weak(before, now)) {
  }
}

Buffer::Buffer(Buffer&& other) noexcept
    : kind_(other.kind_),
      data_(std::exchange(other.data_, nullptr)),
      size_(std::exchange(other.size_, 0)) {}

Buffer& Buffer::operator=(Buffer&& other) noexcept {
  std::swap(kind_, other.kind_);
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

Buffer::~Buffer() {
  if (data_ == nullptr) return;
  munmap(data_, size_);
  held.fetch_sub(size_);
}

std::uint64_t peak_buffer_bytes() { return peak.load(); }

std::uint64_t available_memory_bytes() {
  std::uint64_t available = std::numeric_limits<std::uint64_t>::max();
  std::ifstream meminfo("/proc/meminfo");
  for (std::string line; std::getline(meminfo, line);) {
    constexpr std::string_view name = "MemAvailable:";
    if (line.starts_with(name)) available = std::stoull(line.substr(name.size())) * 1024;
  }
  return std::min(available, cgroup_headroom());
}

}  // namespace ucxbench
