#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "ci/cuda-emulator/context.hpp"
#include "ci/cuda-emulator/device/launch.hpp"
#include "ci/cuda-emulator/driver.hpp"
#include "ci/cuda-emulator/machine.hpp"

namespace emulator {

enum class Kind { DEVICE, IMPORTED, MANAGED, PINNED, REGISTERED };

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

  bool on_device() const { return kind == Kind::DEVICE || kind == Kind::IMPORTED; }
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
  Result map_device(Allocation& allocation);
  void protect_devices(int protection);
  void release(const Allocation& allocation);

  std::map<std::uintptr_t, Allocation> allocations_;
  std::uint64_t used_[MAX_DEVICES] = {};
  std::uint64_t last_id_ = 0;
};

Memory& memory();

}  // namespace emulator
