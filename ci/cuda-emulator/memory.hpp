#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <vector>

#include "ci/cuda-emulator/context.hpp"
#include "ci/cuda-emulator/device/launch.hpp"
#include "ci/cuda-emulator/driver.hpp"
#include "ci/cuda-emulator/machine.hpp"

namespace emulator {

// RESERVED: addresses without memory. MAPPED: with physical memory, of this process or another.
enum class Kind { DEVICE, POOLED, IMPORTED, RESERVED, MAPPED, MANAGED, PINNED, REGISTERED };

/// Physical memory without an address (cuMemCreate).
struct Physical {
  PhysicalProperties properties;
  std::uint64_t bytes;
  int fd;
  int device;             // that it is on, as NVML numbers it
  bool imported = false;  // of another process
  int references = 1;     // handles of it and mappings
};

struct Allocation {
  Kind kind;
  std::uintptr_t base = 0;
  std::uint64_t bytes;
  char* contents = nullptr;  // where they really are; of device memory, a hidden mapping of them
  int fd = -1;               // the same bytes as a file, for other processes; -1 for host memory
  Context* context;          // whose it is
  int physical;              // the device that it is on, as NVML numbers it
  unsigned flags = 0;        // as asked for
  std::uint64_t id;          // never used twice in a process
  int opened = 0;            // an imported one: how often
  Device preferred = NO_SUCH_DEVICE;  // a managed one: see cuMemAdvise
  std::shared_ptr<Shadow>
      shadow{};  // what kernels did to it; null: no kernel ran since it is there

  Physical* mapped = nullptr;  // what a mapped one shows
  bool accessible = true;      // a mapped one: see cuMemSetAccess

  bool on_device() const {
    return kind == Kind::DEVICE || kind == Kind::POOLED || kind == Kind::IMPORTED ||
           kind == Kind::MAPPED;
  }
  bool of_other_process() const {
    return kind == Kind::IMPORTED || (mapped != nullptr && mapped->imported);
  }
  std::uintptr_t end() const { return base + bytes; }
  char* at(std::uintptr_t address) const { return contents + (address - base); }
};

/// Everything that this process has allocated, opened or registered. Callers hold driver_mutex.
class Memory {
 public:
  Result allocate(Kind kind, std::uint64_t bytes, Context* context, unsigned flags,
                  std::uintptr_t& address);
  Result register_host(std::uintptr_t address, std::uint64_t bytes, Context* context,
                       unsigned flags);
  /// Maps bytes that another process has allocated; the descriptor is ours from here on.
  Result import(int fd, std::uint64_t bytes, Context* context, int physical,
                std::uintptr_t& address);
  /// Addresses for what is mapped later; no bytes but those of the whole reservation can be.
  Result reserve(std::uint64_t bytes, Context* context, std::uintptr_t& address);
  Result release_reserved(std::uintptr_t address, std::uint64_t bytes);
  Result map(std::uintptr_t address, std::uint64_t bytes, Physical& physical);
  Result unmap(std::uintptr_t address, std::uint64_t bytes);
  /// Physical memory of this process; null where there is no more.
  Physical* create(const PhysicalProperties& properties, std::uint64_t bytes, int device);
  Physical* adopt(const Physical& imported);  ///< the descriptor is ours from here on
  bool is_physical(const Physical* physical) const { return physical_.contains(physical); }
  void drop(Physical* physical);         ///< one reference
  std::uint64_t physical_bytes() const;  ///< of this process

  /// Frees the allocation that begins here, if it is of this kind.
  Result free(std::uintptr_t address, Kind kind);
  void free_all_of(const Context* context);

  /// Lets kernels use all of it, at its addresses, or nobody again.
  std::vector<Range> open_to_kernels();
  void close_to_kernels();

  Allocation* find(std::uintptr_t address);
  /// Whether addresses here belong to the devices, allocated or not.
  bool is_device_address(std::uintptr_t address) const;
  std::uint64_t used(int physical) const { return used_[physical]; }
  const std::map<std::uintptr_t, Allocation>& all() const { return allocations_; }

 private:
  Result find_place(std::uint64_t bytes, std::uintptr_t& address) const;
  Result map_device(Allocation& allocation);
  void protect_devices(int protection);
  void release(const Allocation& allocation);

  std::map<std::uintptr_t, Allocation> allocations_;
  std::set<const Physical*> physical_;
  std::uint64_t used_[MAX_DEVICES] = {};
  std::uint64_t last_id_ = 0;
};

Memory& memory();

/// A file without a name for bytes of a device; -1 where there is no room.
int device_file(std::uint64_t bytes);

}  // namespace emulator
