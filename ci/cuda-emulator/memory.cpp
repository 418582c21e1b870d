#include "ci/cuda-emulator/memory.hpp"

#include <sanitizer/asan_interface.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdlib>

#include "ci/cuda-emulator/report.hpp"

namespace emulator {
namespace {

// Where device addresses come from: never accessible, so that a host that touches "GPU memory"
// faults at once, and never given back, so that freed addresses still fault. Reserving costs
// nothing; ThreadSanitizer leaves programs little more than this in one piece.
constexpr std::uint64_t RESERVED_BYTES = 64ULL << 30;
// As large allocations are aligned by the driver. At least a page stays free between two of them.
constexpr std::uint64_t SLOT_BYTES = 2 << 20;
constexpr std::uint64_t PAGE_BYTES = 4096;

// Past the C library, since UCX follows its mmap and munmap: nobody may know of these mappings.
// The offset is a long: of an int the upper half would be what lies there.
void* hidden_map(std::uint64_t bytes, int protection, int flags, int fd) {
  const long result = syscall(SYS_mmap, nullptr, bytes, protection, flags, fd, 0L);
  return result == -1 ? nullptr : reinterpret_cast<void*>(result);
}

/// Puts a mapping that nobody may use in the place of what lies there.
long map_at(std::uintptr_t address, std::uint64_t bytes, int flags, int fd) {
  return syscall(SYS_mmap, address, bytes, PROT_NONE, flags | MAP_FIXED, fd, 0L);
}

std::uint64_t round_up(std::uint64_t bytes, std::uint64_t unit) {
  return (bytes + unit - 1) / unit * unit;
}

std::uintptr_t reservation() {
  static const auto start = [] {
    void* memory = hidden_map(RESERVED_BYTES + SLOT_BYTES, PROT_NONE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1);
    if (memory == nullptr) std::abort();
    return round_up(reinterpret_cast<std::uintptr_t>(memory), SLOT_BYTES);
  }();
  return start;
}

}  // namespace

int device_file(std::uint64_t bytes) {
  const int fd = memfd_create("emulated-gpu-memory", MFD_CLOEXEC);
  if (fd < 0 || ftruncate(fd, static_cast<off_t>(bytes)) == 0) return fd;
  close(fd);
  return -1;
}

Memory& memory() {
  static auto& instance = *new Memory;
  return instance;
}

bool Memory::is_device_address(std::uintptr_t address) const {
  return address - reservation() < RESERVED_BYTES;
}

Allocation* Memory::find(std::uintptr_t address) {
  auto after = allocations_.upper_bound(address);
  if (after == allocations_.begin()) return nullptr;
  auto& allocation = std::prev(after)->second;
  const bool is_memory = allocation.kind != Kind::RESERVED && address < allocation.end();
  return is_memory ? &allocation : nullptr;
}

Result Memory::find_place(std::uint64_t bytes, std::uintptr_t& address) const {
  const auto needed = bytes + PAGE_BYTES;
  auto candidate = reservation() + SLOT_BYTES;  // below the first one lies nothing either
  const auto end = reservation() + RESERVED_BYTES;
  // The lowest gap that is wide enough: as with the driver, freed addresses soon come again.
  for (auto next = allocations_.lower_bound(candidate);
       next != allocations_.end() && next->first < end; ++next) {
    if (next->first - candidate >= needed) break;
    candidate = round_up(next->second.end() + PAGE_BYTES, SLOT_BYTES);
  }
  if (candidate > end || end - candidate < needed) return OUT_OF_MEMORY;
  address = candidate;
  return SUCCESS;
}

/// Gives it an address among the devices', unless it has one, and maps its file where only we know.
Result Memory::map_device(Allocation& allocation) {
  auto place = allocation.base;
  if (place == 0) {
    if (const auto result = find_place(allocation.bytes, place); result != SUCCESS) return result;
  }
  void* contents = hidden_map(allocation.bytes, PROT_READ | PROT_WRITE, MAP_SHARED, allocation.fd);
  if (contents == nullptr) return OUT_OF_MEMORY;
  // The same bytes stand at the device's address, where only kernels may come.
  if (map_at(place, allocation.bytes, MAP_SHARED, allocation.fd) == -1) {
    syscall(SYS_munmap, contents, allocation.bytes);
    return OUT_OF_MEMORY;
  }
  allocation.base = place;
  allocation.contents = static_cast<char*>(contents);
  // The rest of the last page; behind it is none.
  ASAN_POISON_MEMORY_REGION(reinterpret_cast<void*>(allocation.end()), PAGE_BYTES - 1);
  return SUCCESS;
}

void Memory::protect_devices(int protection) {
  for (const auto& [base, allocation] : allocations_) {
    if (allocation.on_device()) syscall(SYS_mprotect, base, allocation.bytes, protection);
  }
}

std::vector<Range> Memory::open_to_kernels() {
  protect_devices(PROT_READ | PROT_WRITE);
  std::vector<Range> ranges;
  for (auto& [base, allocation] : allocations_) {
    if (allocation.kind == Kind::RESERVED) continue;
    if (!allocation.shadow) allocation.shadow = std::make_shared<Shadow>(base, allocation.end());
    ranges.push_back({.begin = base, .end = allocation.end(), .shadow = allocation.shadow.get()});
  }
  return ranges;
}

void Memory::close_to_kernels() { protect_devices(PROT_NONE); }

Result Memory::allocate(Kind kind, std::uint64_t bytes, Context* context, unsigned flags,
                        std::uintptr_t& address) {
  if (bytes == 0) return INVALID_VALUE;
  Allocation made{.kind = kind,
                  .bytes = bytes,
                  .context = context,
                  .physical = machine().visible[context->device],
                  .flags = flags,
                  .id = ++last_id_};
  if (kind == Kind::DEVICE || kind == Kind::POOLED) {
    if (bytes > machine().bytes - used_[made.physical]) return OUT_OF_MEMORY;
    made.fd = device_file(bytes);
    if (made.fd < 0) return OUT_OF_MEMORY;
    if (const auto result = map_device(made); result != SUCCESS) {
      close(made.fd);
      return result;
    }
    used_[made.physical] += bytes;
  } else {
    void* contents = hidden_map(bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
    if (contents == nullptr) return OUT_OF_MEMORY;
    made.contents = static_cast<char*>(contents);
    made.base = reinterpret_cast<std::uintptr_t>(contents);
  }
  address = made.base;
  allocations_.emplace(made.base, made);
  report().allocated(kind, used_[made.physical]);
  return SUCCESS;
}

Result Memory::register_host(std::uintptr_t address, std::uint64_t bytes, Context* context,
                             unsigned flags) {
  if (address == 0 || bytes == 0 || is_device_address(address)) return INVALID_VALUE;
  const auto after = allocations_.lower_bound(address);
  const bool overlaps_next = after != allocations_.end() && after->first < address + bytes;
  if (find(address) != nullptr || overlaps_next) return HOST_MEMORY_ALREADY_REGISTERED;
  allocations_.emplace(address, Allocation{.kind = Kind::REGISTERED,
                                           .base = address,
                                           .bytes = bytes,
                                           .contents = reinterpret_cast<char*>(address),
                                           .context = context,
                                           .physical = machine().visible[context->device],
                                           .flags = flags,
                                           .id = ++last_id_});
  report().allocated(Kind::REGISTERED, 0);
  return SUCCESS;
}

Result Memory::import(int fd, std::uint64_t bytes, Context* context, int physical,
                      std::uintptr_t& address) {
  Allocation made{.kind = Kind::IMPORTED,
                  .bytes = bytes,
                  .fd = fd,
                  .context = context,
                  .physical = physical,
                  .id = ++last_id_,
                  .opened = 1};
  if (const auto result = map_device(made); result != SUCCESS) {
    close(fd);
    return result;
  }
  address = made.base;
  allocations_.emplace(made.base, made);
  return SUCCESS;
}

Result Memory::free(std::uintptr_t address, Kind kind) {
  const auto found = allocations_.find(address);
  if (found == allocations_.end() || found->second.kind != kind) return INVALID_VALUE;
  release(found->second);
  allocations_.erase(found);
  return SUCCESS;
}

void Memory::release(const Allocation& allocation) {
  if (allocation.kind == Kind::RESERVED) return;
  if (allocation.kind == Kind::DEVICE || allocation.kind == Kind::POOLED)
    used_[allocation.physical] -= allocation.bytes;
  if (allocation.kind != Kind::REGISTERED) {
    syscall(SYS_munmap, allocation.contents, allocation.bytes);
  }
  if (allocation.on_device()) {
    ASAN_UNPOISON_MEMORY_REGION(reinterpret_cast<void*>(allocation.end()), PAGE_BYTES - 1);
    map_at(allocation.base, allocation.bytes, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1);
  }
  if (allocation.mapped != nullptr) {
    drop(allocation.mapped);
  } else if (allocation.fd >= 0) {
    close(allocation.fd);
  }
}

void Memory::free_all_of(const Context* context) {
  for (auto next = allocations_.begin(); next != allocations_.end();) {
    if (next->second.context != context) {
      ++next;
      continue;
    }
    release(next->second);
    next = allocations_.erase(next);
  }
}

}  // namespace emulator
