#pragma once

#include <cstdint>

namespace emulator {

enum class Kind;
struct Allocation;

/// What this process did, independently of what UCX says of itself. Written at exit as one line of
/// JSON to CUDA_EMULATOR_REPORT.<pid>, by processes that called cuInit. Callers hold
/// driver_mutex.
class Report {
 public:
  void allocated(Kind kind, std::uint64_t used_bytes);
  void exported() { ++ipc_handles_; }
  void opened() { ++ipc_opens_; }
  void closed() { ++ipc_closes_; }
  /// Bytes that went from one place to another; no allocation means ordinary host memory.
  void copied(const Allocation* to, const Allocation* from, std::uint64_t bytes);
  void launched() { ++kernel_launches_; }
  void refused_access() { ++illegal_accesses_; }
  void write() const;

 private:
  std::uint64_t ipc_handles_ = 0, ipc_opens_ = 0, ipc_closes_ = 0;
  std::uint64_t device_allocations_ = 0, managed_allocations_ = 0, pinned_allocations_ = 0;
  std::uint64_t host_registrations_ = 0, peak_bytes_ = 0;
  std::uint64_t h2h_ = 0, h2d_ = 0, d2h_ = 0, d2d_ = 0, d2d_peer_ = 0, d2d_ipc_ = 0;
  std::uint64_t kernel_launches_ = 0, illegal_accesses_ = 0;
};

Report& report();

}  // namespace emulator
