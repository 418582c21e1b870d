// cuIpc…: a handle says which descriptor of which process holds the bytes, and is opened through
// /proc/PID/fd: nothing with a name, so nothing can be left behind.

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <string>

#include "ci/cuda-emulator/memory.hpp"
#include "ci/cuda-emulator/report.hpp"

namespace emulator {
namespace {

constexpr std::uint64_t HANDLE_MAGIC = 0x6370696465746c75;

struct Handle {
  std::uint64_t magic;
  std::int64_t pid;
  std::int64_t fd;
  std::uint64_t device_of_file;
  std::uint64_t inode;  // a descriptor may meanwhile be another file's
  std::uint64_t bytes;
  std::int64_t physical;
  std::uint64_t id;
};

/// As the driver has it: 64 bytes, passed by value.
struct OpaqueHandle {
  char bytes[64];
};
static_assert(sizeof(Handle) == sizeof(OpaqueHandle));

/// The file behind a handle, -1 if it is gone or another one.
int open_file(const Handle& handle) {
  const auto path = "/proc/" + std::to_string(handle.pid) + "/fd/" + std::to_string(handle.fd);
  const int fd = open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (fd < 0) return -1;
  struct stat file{};
  if (fstat(fd, &file) == 0 && file.st_dev == handle.device_of_file &&
      file.st_ino == handle.inode) {
    return fd;
  }
  close(fd);
  return -1;
}

/// A mapping that this context already has of the same file.
Allocation* opened_before(const Handle& handle, const Context* context) {
  for (const auto& [base, allocation] : memory().all()) {
    if (allocation.kind != Kind::IMPORTED || allocation.context != context) continue;
    struct stat file{};
    if (fstat(allocation.fd, &file) == 0 && file.st_dev == handle.device_of_file &&
        file.st_ino == handle.inode) {
      return memory().find(base);
    }
  }
  return nullptr;
}

}  // namespace

EMULATED(cuIpcGetMemHandle, OpaqueHandle* opaque, DevicePointer pointer) {
  Context* context = nullptr;
  if (const auto result = current(context); result != SUCCESS) return result;
  const std::lock_guard lock(driver_mutex());
  const auto* found = memory().find(pointer);
  // Neither managed memory nor what another process has allocated can be passed on.
  if (opaque == nullptr || found == nullptr || found->kind != Kind::DEVICE) return INVALID_VALUE;
  struct stat file{};
  if (fstat(found->fd, &file) != 0) return OPERATING_SYSTEM;
  const Handle handle{.magic = HANDLE_MAGIC,
                      .pid = getpid(),
                      .fd = found->fd,
                      .device_of_file = file.st_dev,
                      .inode = file.st_ino,
                      .bytes = found->bytes,
                      .physical = found->physical,
                      .id = found->id};
  std::memcpy(opaque, &handle, sizeof handle);
  report().exported();
  return SUCCESS;
}

EMULATED(cuIpcOpenMemHandle_v2, DevicePointer* pointer, OpaqueHandle opaque, unsigned flags) {
  Context* context = nullptr;
  if (const auto result = current(context); result != SUCCESS) return result;
  Handle handle;
  std::memcpy(&handle, &opaque, sizeof handle);
  if (pointer == nullptr || handle.magic != HANDLE_MAGIC || flags != IPC_LAZY_ENABLE_PEER_ACCESS) {
    return INVALID_VALUE;
  }
  if (handle.pid == getpid()) return INVALID_CONTEXT;
  const std::lock_guard lock(driver_mutex());
  if (auto* before = opened_before(handle, context); before != nullptr) {
    ++before->opened;
    *pointer = before->base;
  } else {
    const int fd = open_file(handle);
    if (fd < 0) return MAP_FAILED_;
    std::uintptr_t address = 0;
    const auto result =
        memory().import(fd, handle.bytes, context, static_cast<int>(handle.physical), address);
    if (result != SUCCESS) return result;
    *pointer = address;
  }
  report().opened();
  return SUCCESS;
}
EMULATED_ENTRY(cuIpcOpenMemHandle, emulated_cuIpcOpenMemHandle_v2);

EMULATED(cuIpcCloseMemHandle, DevicePointer pointer) {
  Context* context = nullptr;
  if (const auto result = current(context); result != SUCCESS) return result;
  const std::lock_guard lock(driver_mutex());
  auto* found = memory().find(pointer);
  if (found == nullptr || found->kind != Kind::IMPORTED || found->base != pointer) {
    return INVALID_VALUE;
  }
  if (--found->opened == 0) memory().free(pointer, Kind::IMPORTED);
  report().closed();
  return SUCCESS;
}

}  // namespace emulator
