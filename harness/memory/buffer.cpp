#include "harness/memory/buffer.hpp"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <fstream>
#include <limits>
#include <random>
#include <string>
#include <utility>

#include "harness/core/activity.hpp"
#include "harness/core/failure.hpp"
#include "harness/core/files.hpp"
#include "harness/core/pattern.hpp"
#include "harness/core/units.hpp"
#include "harness/memory/cuda_driver.hpp"
#include "harness/memory/host_pages.hpp"

namespace ucxbench {
namespace {

// Work on more bytes than this goes in steps: staging needs so much host memory at most, and the
// watchdog sees activity in between.
constexpr std::size_t step = std::size_t{16} << 20U;

constexpr std::size_t huge_page = std::size_t{2} << 20U;

std::atomic<std::uint64_t> held{0};
std::atomic<std::uint64_t> peak{0};

// cgroup v2: the limit of the process's own group ("0::/path" in /proc/self/cgroup).
std::uint64_t cgroup_headroom() {
  std::ifstream membership("/proc/self/cgroup");
  for (std::string line; std::getline(membership, line);) {
    if (!line.starts_with("0::")) continue;
    const auto folder = "/sys/fs/cgroup" + line.substr(3);
    const auto limit = number_of(folder + "/memory.max");  // "max" is no number
    const auto used = number_of(folder + "/memory.current").value_or(0);
    if (limit) return *limit > used ? *limit - used : 0;
  }
  return std::numeric_limits<std::uint64_t>::max();
}

void count_peak(std::size_t bytes) {
  const auto now = held.fetch_add(bytes) + bytes;
  auto before = peak.load();
  while (before < now && !peak.compare_exchange_weak(before, now)) {
  }
}

void touch(std::span<std::byte> bytes) {
  // In steps, since gigabytes take as long as a time-out.
  constexpr std::size_t page = 4096;
  for (std::size_t at = 0; at < bytes.size(); at += page) {
    bytes[at] = std::byte{0};
    if (at % step == 0) activity().bump();
  }
}

/// The upper bits of a double that is no number, above bits that differ from call to call and from
/// process to process: what an earlier run left is another word, too.
std::uint32_t next_poison() {
  static std::atomic<std::uint64_t> drawn{std::uint64_t{std::random_device()()} << 32U};
  return 0xfff00000U | static_cast<std::uint32_t>(mix64(drawn.fetch_add(1)) & 0xfffffU) | 1U;
}

std::span<std::byte> allocate_on_gpu(const MemoryKind& kind, std::size_t bytes, Pages pages) {
  const auto& driver = CudaDriver::get();
  auto* data = kind.place == MemoryPlace::pinned ? driver.allocate_pinned(bytes)
               : kind.place == MemoryPlace::cuda ? driver.allocate(bytes, kind.way)
                                                 : driver.allocate_managed(bytes, kind.way);
  if (pages != Pages::untouched) driver.fill(data, bytes, 0);
  return {data, bytes};
}

}  // namespace

class Buffer::Allocation {
 public:
  Allocation(const MemoryKind& kind, std::size_t bytes, Pages pages) : kind_(kind) {
    if (on_host(kind)) {
      bytes_ = pages_.emplace(kind, bytes).bytes();
      // A wish: a kernel without such pages gives others.
      const bool wish = kind == MemoryKind::host && pages == Pages::huge && bytes >= huge_page;
      if (wish) madvise(bytes_.data(), bytes, MADV_HUGEPAGE);
      if (pages != Pages::untouched) {
        touch(bytes_);
        pages_->check_node();
      }
    } else {
      bytes_ = allocate_on_gpu(kind, bytes, pages);
    }
    count_peak(bytes);
  }
  Allocation(const Allocation&) = delete;
  Allocation& operator=(const Allocation&) = delete;
  ~Allocation() {
    held.fetch_sub(bytes_.size());
    if (kind_.place == MemoryPlace::pinned) {
      CudaDriver::get().release_pinned(bytes_.data());
    } else if (on_gpu(kind_)) {
      CudaDriver::get().release(bytes_.data(), bytes_.size(), kind_.way);
    }
  }

  const MemoryKind& kind() const { return kind_; }
  std::span<std::byte> bytes() const { return bytes_; }

 private:
  MemoryKind kind_;
  std::optional<HostPages> pages_;
  std::span<std::byte> bytes_;
};

void copy_bytes(const MemoryKind& kind, void* to, const void* from, std::size_t bytes) {
  if (host_may_touch(kind)) {
    std::memcpy(to, from, bytes);
  } else {
    CudaDriver::get().copy(static_cast<std::byte*>(to), static_cast<const std::byte*>(from), bytes);
  }
}

Buffer::Buffer(const MemoryKind& kind, std::size_t bytes, Pages pages)
    : owner_(std::make_shared<Allocation>(kind, bytes, pages)), bytes_(owner_->bytes()) {}

Buffer::Buffer(std::shared_ptr<Allocation> owner, std::span<std::byte> bytes)
    : owner_(std::move(owner)), bytes_(bytes) {}

Buffer Buffer::part(std::size_t offset, std::size_t bytes) const {
  return {owner_, bytes_.subspan(offset, bytes)};
}

MemoryKind Buffer::kind() const { return owner_->kind(); }

void Buffer::fill(std::size_t bytes, std::uint64_t seed) {
  if (host_may_touch(kind())) return fill_pattern(bytes_.first(bytes), seed);
  std::vector<std::byte> staged(std::min(bytes, step));
  for (std::size_t at = 0; at < bytes; at += step) {
    const auto part = std::span(staged).first(std::min(step, bytes - at));
    fill_pattern(part, seed, at);
    CudaDriver::get().copy(bytes_.data() + at, part.data(), part.size());
  }
}

void Buffer::poison(std::size_t bytes) { set(bytes, next_poison()); }

void Buffer::set(std::size_t bytes, std::uint32_t word) {
  if (!host_may_touch(kind())) return CudaDriver::get().fill(bytes_.data(), bytes, word);
  for (std::size_t at = 0; at < bytes; at += sizeof word) {
    std::memcpy(bytes_.data() + at, &word, std::min(sizeof word, bytes - at));
    if (at % step == 0) activity().bump();
  }
}

std::optional<std::size_t> Buffer::mismatch(std::size_t bytes, std::uint64_t seed) const {
  if (host_may_touch(kind())) return find_mismatch(bytes_.first(bytes), seed);
  std::vector<std::byte> staged(std::min(bytes, step));
  for (std::size_t at = 0; at < bytes; at += step) {
    const auto part = std::span(staged).first(std::min(step, bytes - at));
    CudaDriver::get().copy(part.data(), bytes_.data() + at, part.size());
    if (const auto wrong = find_mismatch(part, seed, at)) return at + *wrong;
  }
  return std::nullopt;
}

MemoryPool::MemoryPool(const MemoryKind& kind, std::size_t bytes, Pages pages)
    : owner_(std::make_shared<Buffer::Allocation>(kind, bytes, pages)) {}

std::size_t MemoryPool::room_for(const std::vector<std::size_t>& sizes) {
  std::size_t room = 0;
  for (const auto size : sizes) room += (size + alignment - 1) / alignment * alignment;
  return room;
}

Buffer MemoryPool::take(std::size_t bytes) {
  const auto room = room_for({bytes});
  const auto all = owner_->bytes();
  if (room > all.size() - used_) {
    throw Failure(Exit::usage,
                  fmt::format("--rmm-pool-size: a pool of {} has no room for a buffer of {}",
                              spaced_size(all.size()), spaced_size(bytes)));
  }
  used_ += room;
  return {owner_, all.subspan(used_ - room, bytes)};
}

std::uint64_t peak_buffer_bytes() { return peak.load(); }

std::string why_no_memory(const MemoryKind& kind) {
  if (!on_host(kind)) return "";
  try {
    HostPages(kind, 1);
  } catch (const Failure& failure) {
    return failure.what();
  }
  return "";
}

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
