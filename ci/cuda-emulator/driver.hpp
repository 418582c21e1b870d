#pragma once

// The part of the driver's binary interface that is emulated, declared here so that nothing needs
// a CUDA toolkit. abi_check.cpp compares it with cuda.h where there is one.

#include <cstddef>
#include <cstdint>

namespace emulator {

enum Result : int {
  SUCCESS = 0,
  INVALID_VALUE = 1,
  OUT_OF_MEMORY = 2,
  NOT_INITIALIZED = 3,
  NO_DEVICE = 100,
  INVALID_DEVICE = 101,
  INVALID_IMAGE = 200,
  INVALID_CONTEXT = 201,
  MAP_FAILED_ = 205,  // MAP_FAILED is a macro of the C library
  OPERATING_SYSTEM = 304,
  INVALID_HANDLE = 400,
  NOT_FOUND = 500,
  NOT_READY = 600,
  ILLEGAL_ADDRESS = 700,
  PEER_ACCESS_ALREADY_ENABLED = 704,
  PEER_ACCESS_NOT_ENABLED = 705,
  PRIMARY_CONTEXT_ACTIVE = 708,
  CONTEXT_IS_DESTROYED = 709,
  HOST_MEMORY_ALREADY_REGISTERED = 712,
  HOST_MEMORY_NOT_REGISTERED = 713,
  LAUNCH_FAILED = 719,
  NOT_PERMITTED = 800,
  NOT_SUPPORTED = 801,
};

using Device = int;
using DevicePointer = unsigned long long;

constexpr Device CPU_DEVICE = -1;
constexpr Device NO_SUCH_DEVICE = -2;

enum MemoryType : unsigned { HOST_MEMORY = 1, DEVICE_MEMORY = 2 };

enum PointerAttribute : int {
  CONTEXT = 1,
  MEMORY_TYPE = 2,
  DEVICE_POINTER = 3,
  HOST_POINTER = 4,
  SYNC_MEMOPS = 6,
  BUFFER_ID = 7,
  IS_MANAGED = 8,
  DEVICE_ORDINAL = 9,
  IS_LEGACY_IPC_CAPABLE = 10,
  RANGE_START = 11,
  RANGE_SIZE = 12,
  MAPPED = 13,
  ALLOWED_HANDLE_TYPES = 14,
  IS_GPU_DIRECT_RDMA_CAPABLE = 15,
  ACCESS_FLAGS = 16,
  MEMPOOL_HANDLE = 17,
  MAPPING_SIZE = 18,
  MAPPING_BASE = 19,
  MEMORY_BLOCK_ID = 20,
};

enum DeviceAttribute : int {
  MAX_THREADS_PER_BLOCK = 1,
  MAX_BLOCK_DIM_X = 2,
  MAX_BLOCK_DIM_Y = 3,
  MAX_BLOCK_DIM_Z = 4,
  MAX_GRID_DIM_X = 5,
  MAX_GRID_DIM_Y = 6,
  MAX_GRID_DIM_Z = 7,
  WARP_SIZE = 10,
  CLOCK_RATE = 13,
  MULTIPROCESSOR_COUNT = 16,
  CAN_MAP_HOST_MEMORY = 19,
  PCI_BUS_ID = 33,
  PCI_DEVICE_ID = 34,
  ASYNC_ENGINE_COUNT = 40,
  UNIFIED_ADDRESSING = 41,
  PCI_DOMAIN_ID = 50,
  COMPUTE_CAPABILITY_MAJOR = 75,
  COMPUTE_CAPABILITY_MINOR = 76,
  MANAGED_MEMORY = 83,
  CONCURRENT_MANAGED_ACCESS = 89,
  CAN_USE_HOST_POINTER_FOR_REGISTERED_MEMORY = 91,
  HOST_REGISTER_SUPPORTED = 99,
  VIRTUAL_MEMORY_SUPPORTED = 102,
  MEMORY_POOLS_SUPPORTED = 115,
  FABRIC_HANDLES_SUPPORTED = 128,
  MPS_ENABLED = 133,
};

enum AllocationHandleType : int { FILE_DESCRIPTOR = 1, FABRIC = 8 };

constexpr unsigned IPC_LAZY_ENABLE_PEER_ACCESS = 1;
constexpr int ADVISE_SET_PREFERRED_LOCATION = 3;
constexpr int ADVISE_UNSET_PREFERRED_LOCATION = 4;
constexpr int RANGE_PREFERRED_LOCATION = 2;
constexpr int LOCATION_IS_DEVICE = 1;

struct Uuid {
  unsigned char bytes[16];
};

/// Where memory shall be, as in cuMemAdvise_v2.
struct Location {
  int type;
  int id;
};

/// Physical memory without an address, as cuMemCreate is asked for it.
struct PhysicalProperties {
  int type;
  int handle_types;
  Location location;
  void* windows;
  unsigned char compression;
  unsigned char gpu_direct_rdma;
  unsigned short usage;
  unsigned char reserved[4];
};

struct AccessDescriptor {
  Location location;
  int flags;
};

struct FabricHandle {
  unsigned char bytes[64];
};

}  // namespace emulator

// EMULATED(name, parameters…) { body }: defines and exports the driver's function `name`.
//
// UCM, the part of UCX that watches allocations, overwrites the first bytes of some functions by a
// jump to itself and runs a relocated copy of them to reach the original. It can only relocate a
// few instructions, and needs 12 bytes of them if its jump is a far one; where it cannot, it
// silently goes without its registration cache. So every function is entered by instructions that
// it knows.
#define EMULATED_ENTRY(name, body)         \
  asm(".pushsection .text\n"               \
      ".p2align 4\n"                       \
      ".globl " #name                      \
      "\n"                                 \
      ".type " #name ", @function\n" #name \
      ":\n"                                \
      "  push %rbp\n"                      \
      "  mov %rsp, %rbp\n"                 \
      "  push %r15\n"                      \
      "  push %r14\n"                      \
      "  push %r13\n"                      \
      "  push %r12\n"                      \
      "  pop %r12\n"                       \
      "  pop %r13\n"                       \
      "  pop %r14\n"                       \
      "  pop %r15\n"                       \
      "  pop %rbp\n"                       \
      "  jmp " #body                       \
      "\n"                                 \
      ".size " #name ", . - " #name        \
      "\n"                                 \
      ".popsection\n")

#define EMULATED(name, ...)              \
  EMULATED_ENTRY(name, emulated_##name); \
  extern "C"                             \
      __attribute__((used, visibility("hidden"))) emulator::Result emulated_##name(__VA_ARGS__)
