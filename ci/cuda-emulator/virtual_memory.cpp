// Physical memory and addresses apart (cuMemCreate, cuMemAddressReserve, cuMemMap), and fabric
// handles, which are opened through /proc/PID/fd like those of ipc.cpp.

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <string>

#include "ci/cuda-emulator/memory.hpp"
#include "ci/cuda-emulator/report.hpp"

namespace emulator {
namespace {

constexpr std::uint64_t GRANULARITY = 2 << 20;
constexpr int PINNED_ALLOCATION = 1;
constexpr int READ_AND_WRITE = 3;
constexpr std::uint64_t EXPORT_MAGIC = 0x6669726261666d65;

struct Exported {
  std::uint64_t magic;
  std::int64_t pid;
  std::int64_t fd;
  std::uint64_t inode;  // a descriptor may meanwhile be another file's
  std::uint64_t bytes;
  std::int64_t device;  // as NVML numbers it
  std::uint64_t unused[2];
};
static_assert(sizeof(Exported) == sizeof(FabricHandle));

bool is_whole(std::uint64_t bytes) { return bytes > 0 && bytes % GRANULARITY == 0; }

Result check(const PhysicalProperties& asked) {
  if (asked.type != PINNED_ALLOCATION || asked.location.type != LOCATION_IS_DEVICE) {
    return INVALID_VALUE;
  }
  if (const auto result = ready_for(asked.location.id); result != SUCCESS) return result;
  // As a machine without an IMEX channel says it.
  const bool fabric = (asked.handle_types & FABRIC) != 0;
  return fabric && !machine().fabric ? NOT_PERMITTED : SUCCESS;
}

Physical* physical(unsigned long long handle) {
  auto* found = reinterpret_cast<Physical*>(handle);
  return memory().is_physical(found) ? found : nullptr;
}

unsigned long long handle_of(const Physical* physical) {
  return reinterpret_cast<unsigned long long>(physical);
}

}  // namespace

Result Memory::reserve(std::uint64_t bytes, Context* context, std::uintptr_t& address) {
  if (const auto result = find_place(bytes, address); result != SUCCESS) return result;
  allocations_.emplace(address, Allocation{.kind = Kind::RESERVED,
                                           .base = address,
                                           .bytes = bytes,
                                           .context = context,
                                           .physical = 0,
                                           .id = ++last_id_});
  return SUCCESS;
}

Result Memory::release_reserved(std::uintptr_t address, std::uint64_t bytes) {
  const auto found = allocations_.find(address);
  if (found == allocations_.end() || found->second.bytes != bytes) return INVALID_VALUE;
  return free(address, Kind::RESERVED);
}

Result Memory::map(std::uintptr_t address, std::uint64_t bytes, Physical& shown) {
  const auto found = allocations_.find(address);
  if (found == allocations_.end() || found->second.kind != Kind::RESERVED ||
      found->second.bytes != bytes || shown.bytes != bytes) {
    return INVALID_VALUE;
  }
  Allocation made = found->second;
  made.kind = Kind::MAPPED;
  made.fd = shown.fd;
  made.physical = shown.device;
  made.id = ++last_id_;
  made.mapped = &shown;
  made.accessible = false;
  if (const auto result = map_device(made); result != SUCCESS) return result;
  ++shown.references;
  found->second = made;
  return SUCCESS;
}

Result Memory::unmap(std::uintptr_t address, std::uint64_t bytes) {
  const auto found = allocations_.find(address);
  if (found == allocations_.end() || found->second.kind != Kind::MAPPED ||
      found->second.bytes != bytes) {
    return INVALID_VALUE;
  }
  if (found->second.mapped->imported) report().closed();
  auto* const context = found->second.context;
  release(found->second);
  found->second = {.kind = Kind::RESERVED,
                   .base = address,
                   .bytes = bytes,
                   .context = context,
                   .physical = 0,
                   .id = ++last_id_};
  return SUCCESS;
}

Physical* Memory::create(const PhysicalProperties& properties, std::uint64_t bytes, int device) {
  if (bytes > machine().bytes - used_[device]) return nullptr;
  const int fd = device_file(bytes);
  if (fd < 0) return nullptr;
  used_[device] += bytes;
  auto* made = new Physical{.properties = properties, .bytes = bytes, .fd = fd, .device = device};
  physical_.insert(made);
  report().allocated(Kind::DEVICE, used_[device]);
  return made;
}

Physical* Memory::adopt(const Physical& imported) {
  auto* made = new Physical(imported);
  physical_.insert(made);
  return made;
}

void Memory::drop(Physical* dropped) {
  if (--dropped->references > 0) return;
  if (!dropped->imported) used_[dropped->device] -= dropped->bytes;
  close(dropped->fd);
  physical_.erase(dropped);
  delete dropped;
}

std::uint64_t Memory::physical_bytes() const {
  std::uint64_t sum = 0;
  for (const auto* physical : physical_) sum += physical->imported ? 0 : physical->bytes;
  return sum;
}

EMULATED(cuMemGetAllocationGranularity, std::size_t* bytes, const PhysicalProperties* asked, int) {
  if (const auto result = ready(); result != SUCCESS) return result;
  if (bytes == nullptr || asked == nullptr) return INVALID_VALUE;
  *bytes = GRANULARITY;
  return SUCCESS;
}

EMULATED(cuMemCreate, unsigned long long* handle, std::size_t bytes,
         const PhysicalProperties* asked, unsigned long long flags) {
  if (const auto result = ready(); result != SUCCESS) return result;
  if (handle == nullptr || asked == nullptr || flags != 0 || !is_whole(bytes)) {
    return INVALID_VALUE;
  }
  if (const auto result = check(*asked); result != SUCCESS) return result;
  const std::lock_guard lock(driver_mutex());
  const auto* made = memory().create(
      *asked, bytes, machine().visible[static_cast<std::size_t>(asked->location.id)]);
  if (made == nullptr) return OUT_OF_MEMORY;
  *handle = handle_of(made);
  return SUCCESS;
}

EMULATED(cuMemRelease, unsigned long long handle) {
  if (const auto result = ready(); result != SUCCESS) return result;
  const std::lock_guard lock(driver_mutex());
  auto* found = physical(handle);
  if (found == nullptr) return INVALID_VALUE;
  memory().drop(found);
  return SUCCESS;
}

EMULATED(cuMemAddressReserve, DevicePointer* pointer, std::size_t bytes, std::size_t, DevicePointer,
         unsigned long long) {
  Context* context = nullptr;
  if (const auto result = current(context); result != SUCCESS) return result;
  if (pointer == nullptr || !is_whole(bytes)) return INVALID_VALUE;
  const std::lock_guard lock(driver_mutex());
  std::uintptr_t address = 0;
  const auto result = memory().reserve(bytes, context, address);
  if (result == SUCCESS) *pointer = address;
  return result;
}

EMULATED(cuMemAddressFree, DevicePointer pointer, std::size_t bytes) {
  if (const auto result = ready(); result != SUCCESS) return result;
  const std::lock_guard lock(driver_mutex());
  return memory().release_reserved(pointer, bytes);
}

EMULATED(cuMemMap, DevicePointer pointer, std::size_t bytes, std::size_t offset,
         unsigned long long handle, unsigned long long) {
  if (const auto result = ready(); result != SUCCESS) return result;
  const std::lock_guard lock(driver_mutex());
  auto* found = physical(handle);
  if (found == nullptr || offset != 0) return INVALID_VALUE;
  return memory().map(pointer, bytes, *found);
}

EMULATED(cuMemUnmap, DevicePointer pointer, std::size_t bytes) {
  if (const auto result = ready(); result != SUCCESS) return result;
  const std::lock_guard lock(driver_mutex());
  return memory().unmap(pointer, bytes);
}

EMULATED(cuMemSetAccess, DevicePointer pointer, std::size_t bytes, const AccessDescriptor* access,
         std::size_t count) {
  if (const auto result = ready(); result != SUCCESS) return result;
  const std::lock_guard lock(driver_mutex());
  auto* found = memory().find(pointer);
  if (found == nullptr || found->kind != Kind::MAPPED || found->bytes != bytes ||
      access == nullptr || count == 0) {
    return INVALID_VALUE;
  }
  found->accessible = access->flags == READ_AND_WRITE;
  return SUCCESS;
}

EMULATED(cuMemRetainAllocationHandle, unsigned long long* handle, void* pointer) {
  if (const auto result = ready(); result != SUCCESS) return result;
  const std::lock_guard lock(driver_mutex());
  auto* found = memory().find(reinterpret_cast<std::uintptr_t>(pointer));
  if (handle == nullptr || found == nullptr || found->mapped == nullptr) return INVALID_VALUE;
  ++found->mapped->references;
  *handle = handle_of(found->mapped);
  return SUCCESS;
}

EMULATED(cuMemGetAllocationPropertiesFromHandle, PhysicalProperties* properties,
         unsigned long long handle) {
  if (const auto result = ready(); result != SUCCESS) return result;
  const std::lock_guard lock(driver_mutex());
  const auto* found = physical(handle);
  if (properties == nullptr || found == nullptr) return INVALID_VALUE;
  *properties = found->properties;
  return SUCCESS;
}

EMULATED(cuMemExportToShareableHandle, void* exported, unsigned long long handle, int type,
         unsigned long long) {
  if (const auto result = ready(); result != SUCCESS) return result;
  const std::lock_guard lock(driver_mutex());
  const auto* found = physical(handle);
  if (exported == nullptr || found == nullptr || (found->properties.handle_types & type) == 0) {
    return INVALID_VALUE;
  }
  if (type != FABRIC) return NOT_SUPPORTED;
  struct stat file{};
  if (fstat(found->fd, &file) != 0) return OPERATING_SYSTEM;
  const Exported made{.magic = EXPORT_MAGIC,
                      .pid = getpid(),
                      .fd = found->fd,
                      .inode = file.st_ino,
                      .bytes = found->bytes,
                      .device = found->device,
                      .unused = {}};
  std::memcpy(exported, &made, sizeof made);
  report().exported();
  return SUCCESS;
}

EMULATED(cuMemImportFromShareableHandle, unsigned long long* handle, void* exported, int type) {
  if (const auto result = ready(); result != SUCCESS) return result;
  if (type != FABRIC) return NOT_SUPPORTED;
  if (handle == nullptr || exported == nullptr) return INVALID_VALUE;
  Exported given;
  std::memcpy(&given, exported, sizeof given);
  if (given.magic != EXPORT_MAGIC) return INVALID_VALUE;
  const auto path = "/proc/" + std::to_string(given.pid) + "/fd/" + std::to_string(given.fd);
  const int fd = open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (fd < 0) return MAP_FAILED_;
  struct stat file{};
  if (fstat(fd, &file) != 0 || file.st_ino != given.inode) {
    close(fd);
    return MAP_FAILED_;
  }
  const std::lock_guard lock(driver_mutex());
  const auto device = static_cast<int>(given.device);
  *handle = handle_of(memory().adopt({.properties = {.type = PINNED_ALLOCATION,
                                                     .handle_types = FABRIC,
                                                     .location = {LOCATION_IS_DEVICE, device},
                                                     .windows = nullptr,
                                                     .compression = 0,
                                                     .gpu_direct_rdma = 0,
                                                     .usage = 0,
                                                     .reserved = {}},
                                      .bytes = given.bytes,
                                      .fd = fd,
                                      .device = device,
                                      .imported = true}));
  report().opened();
  return SUCCESS;
}

}  // namespace emulator
