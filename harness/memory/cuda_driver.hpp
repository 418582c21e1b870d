#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harness/core/json.hpp"
#include "harness/memory/kind.hpp"

namespace ucxbench {

/// One GPU as the driver lists it, after CUDA_VISIBLE_DEVICES.
struct CudaDevice {
  int index = 0;
  std::string name;
  std::string pci;  ///< "0000:3b:00.0"
  std::uint64_t memory_bytes = 0;
  /// "e301a7ed-…", as `nvidia-smi -L` has it behind GPU- or MIG-: a MIG instance has its own.
  /// Empty where the driver does not say.
  std::string uuid{};
  /// Whether contexts share the device through CUDA's Multi-Process Service; unknown to drivers
  /// that have no such attribute.
  std::optional<bool> mps{};
};

/// CUDA's driver API, found at run time: nothing links it, so that one program runs on machines
/// with and without a GPU. Types and values are those of cuda.h (CUDA Driver API reference
/// manual, 12.0 and newer); a function is looked up by its exported name with its ABI version, as
/// in cuMemAlloc_v2. Every call throws Failure(Exit::cannot_run) with the driver's own words.
class CudaDriver {
 public:
  /// The driver of this process, loaded and initialized. Throws when there is none ("no CUDA driver
  /// (libcuda.so.1 not found)") or it is older than `oldest_version`.
  static const CudaDriver& get();

  /// 1000 × major + 10 × minor of CUDA, as cuDriverGetVersion has it: 12.0.
  static constexpr int oldest_version = UCXBENCH_OLDEST_CUDA_DRIVER;

  int version() const { return version_; }
  std::vector<CudaDevice> devices() const;

  /// In the current context's device; a way of MemoryPlace::cuda.
  std::byte* allocate(std::size_t bytes, MemoryWay way = MemoryWay::plain) const;
  /// Attached to all streams, with the hints of a way of MemoryPlace::managed.
  std::byte* allocate_managed(std::size_t bytes, MemoryWay way = MemoryWay::plain) const;
  /// Of both, of the same bytes and way.
  void release(std::byte* pointer, std::size_t bytes,
               MemoryWay way = MemoryWay::plain) const noexcept;
  std::byte* allocate_pinned(std::size_t bytes) const;  ///< host memory, portable to all contexts
  void release_pinned(std::byte* pointer) const noexcept;

  /// Pins host memory that is there already, for all contexts, until it is unpinned.
  void pin(std::byte* pointer, std::size_t bytes) const;
  void unpin(std::byte* pointer) const noexcept;

  /// Done when it returns, wherever the pointers are.
  void copy(std::byte* to, const std::byte* from, std::size_t bytes) const;
  /// The same word again and again, the last one cut off; from a multiple of four bytes on. Done
  /// when it returns.
  void fill(std::byte* pointer, std::size_t bytes, std::uint32_t word) const;

 private:
  CudaDriver();
  friend class CudaContext;
  friend class CudaModule;
  friend class CudaStream;

  using Result = int;
  using Device = int;
  using Context = void*;
  using Pointer = std::uint64_t;
  using Module = void*;
  using Function = void*;
  using Stream = void*;
  using Event = void*;

  /// CUmemLocation, CUmemAllocationProp and CUmemAccessDesc of cuda.h.
  struct Location {
    int type, id;
  };
  struct Properties {
    int type, handle_types;
    Location location;
    void* windows;
    unsigned char compression, gpu_direct_rdma;
    unsigned short usage;
    std::array<unsigned char, 4> reserved;
  };
  struct Access {
    Location location;
    int flags;
  };

  static Pointer address(const std::byte* pointer) {
    return reinterpret_cast<std::uint64_t>(pointer);
  }
  void check(Result result, const char* call) const;
  Device current_device() const;
  std::string uuid_of(Device device) const;
  std::optional<bool> uses_mps(Device device) const;
  Properties properties_of(Device device, MemoryWay way) const;
  std::byte* allocate_from_pool(std::size_t bytes) const;
  std::byte* allocate_mapped(std::size_t bytes, MemoryWay way) const;
  std::byte* map(std::uint64_t handle, std::size_t bytes, Device device) const;
  void advise(std::byte* pointer, std::size_t bytes, MemoryWay way) const;

  int version_ = 0;
  Result (*init_)(unsigned) = nullptr;
  Result (*get_version_)(int*) = nullptr;
  Result (*get_error_string_)(Result, const char**) = nullptr;
  Result (*device_count_)(int*) = nullptr;
  Result (*device_get_)(Device*, int) = nullptr;
  Result (*device_name_)(char*, int, Device) = nullptr;
  Result (*device_pci_)(char*, int, Device) = nullptr;
  Result (*device_memory_)(std::size_t*, Device) = nullptr;
  Result (*device_uuid_)(std::array<unsigned char, 16>*, Device) = nullptr;  ///< null: none
  Result (*retain_)(Context*, Device) = nullptr;
  Result (*set_current_)(Context) = nullptr;
  Result (*synchronize_)() = nullptr;
  Result (*allocate_)(Pointer*, std::size_t) = nullptr;
  Result (*allocate_managed_)(Pointer*, std::size_t, unsigned) = nullptr;
  Result (*allocate_pinned_)(void**, std::size_t, unsigned) = nullptr;
  Result (*free_)(Pointer) = nullptr;
  Result (*free_pinned_)(void*) = nullptr;
  Result (*register_)(void*, std::size_t, unsigned) = nullptr;
  Result (*unregister_)(void*) = nullptr;
  Result (*can_access_peer_)(int*, Device, Device) = nullptr;
  Result (*enable_peer_)(Context, unsigned) = nullptr;
  Result (*current_device_)(Device*) = nullptr;
  Result (*device_attribute_)(int*, int, Device) = nullptr;
  Result (*allocate_async_)(Pointer*, std::size_t, Stream) = nullptr;
  Result (*granularity_)(std::size_t*, const Properties*, int) = nullptr;
  Result (*create_)(std::uint64_t*, std::size_t, const Properties*, std::uint64_t) = nullptr;
  Result (*release_)(std::uint64_t) = nullptr;
  Result (*reserve_)(Pointer*, std::size_t, std::size_t, Pointer, std::uint64_t) = nullptr;
  Result (*give_back_)(Pointer, std::size_t) = nullptr;
  Result (*map_)(Pointer, std::size_t, std::size_t, std::uint64_t, std::uint64_t) = nullptr;
  Result (*unmap_)(Pointer, std::size_t) = nullptr;
  Result (*set_access_)(Pointer, std::size_t, const Access*, std::size_t) = nullptr;
  Result (*advise_)(Pointer, std::size_t, int, Device) = nullptr;
  Result (*prefetch_)(Pointer, std::size_t, Device, Stream) = nullptr;
  Result (*copy_)(Pointer, Pointer, std::size_t) = nullptr;
  Result (*set_bytes_)(Pointer, unsigned char, std::size_t) = nullptr;
  Result (*set_words_)(Pointer, unsigned int, std::size_t) = nullptr;
  Result (*copy_async_)(Pointer, Pointer, std::size_t, Stream) = nullptr;
  Result (*load_module_)(Module*, const void*) = nullptr;
  Result (*unload_module_)(Module) = nullptr;
  Result (*module_function_)(Function*, Module, const char*) = nullptr;
  Result (*launch_)(Function, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                    Stream, void**, void**) = nullptr;
  Result (*create_stream_)(Stream*, unsigned) = nullptr;
  Result (*destroy_stream_)(Stream) = nullptr;
  Result (*create_event_)(Event*, unsigned) = nullptr;
  Result (*destroy_event_)(Event) = nullptr;
  Result (*record_event_)(Event, Stream) = nullptr;
  Result (*query_event_)(Event) = nullptr;
};

/// The GPU of a rank: of `devices`, or if there are none of all that exist, in turn.
int gpu_of_rank(const std::vector<int>& devices, int rank);

/// Whether it is the tests' own driver's (ci/cuda-emulator).
bool is_emulated(const CudaDevice& device);

/// For results: index, name, pci, uuid, memory_bytes, mps, and the driver's version.
Json to_json(const CudaDevice& device);

/// A device's primary context, current on the thread that makes it. Made before UCX starts: UCX's
/// CUDA modules, and its choice of the nearest NIC, look for a current context. Never released: UCX
/// closes its mappings of other processes' memory when the process ends.
class CudaContext {
 public:
  /// Throws Failure(Exit::usage) when there is no such device.
  explicit CudaContext(int device);
  CudaContext(const CudaContext&) = delete;
  CudaContext& operator=(const CudaContext&) = delete;

  const CudaDevice& device() const { return device_; }

  /// Makes it current on the calling thread, for a process with several.
  void make_current() const;

  /// From now on copies from this GPU go to the other one directly; false where the machine cannot
  /// do that: they are then staged in host memory. It must be current, and is asked once.
  bool reach(const CudaContext& other) const;

  /// Makes this process's context, if it has one, current on the calling thread too: UCX 1.17 and
  /// 1.18 need it on the thread that progresses.
  static void adopt();

 private:
  CudaDevice device_;
  void* handle_ = nullptr;
};

/// The device of a rank's context, if it has one.
inline std::optional<CudaDevice> device_of(const std::optional<CudaContext>& context) {
  return context ? std::optional(context->device()) : std::nullopt;
}

}  // namespace ucxbench
