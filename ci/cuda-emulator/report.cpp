#include "ci/cuda-emulator/report.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <string>

#include "ci/cuda-emulator/context.hpp"
#include "ci/cuda-emulator/link_counters.hpp"
#include "ci/cuda-emulator/machine.hpp"
#include "ci/cuda-emulator/memory.hpp"

namespace emulator {
namespace {

bool on_device(const Allocation* allocation) {
  return allocation != nullptr && allocation->on_device();
}

bool is_imported(const Allocation* allocation) {
  return allocation != nullptr && allocation->of_other_process();
}

std::string member(const char* name, std::uint64_t value) {
  return ", \"" + std::string(name) + "\": " + std::to_string(value);
}

__attribute__((destructor)) void at_exit() {
  if (ready() == SUCCESS) report().write();
}

}  // namespace

Report& report() {
  static auto& instance = *new Report;
  return instance;
}

void Report::allocated(Kind kind, std::uint64_t used_bytes) {
  switch (kind) {
    case Kind::DEVICE:
    case Kind::POOLED:
      ++device_allocations_;
      peak_bytes_ = std::max(peak_bytes_, used_bytes);
      break;
    case Kind::MANAGED:
      ++managed_allocations_;
      break;
    case Kind::PINNED:
      ++pinned_allocations_;
      break;
    case Kind::REGISTERED:
      ++host_registrations_;
      break;
    case Kind::IMPORTED:
    case Kind::RESERVED:
    case Kind::MAPPED:
      break;
  }
}

void Report::copied(const Allocation* to, const Allocation* from, std::uint64_t bytes) {
  auto& links = link_counters();
  if (!on_device(to) && !on_device(from)) {
    h2h_ += bytes;
  } else if (!on_device(from)) {
    h2d_ += bytes;
    links[to->physical].pcie_received += bytes;
  } else if (!on_device(to)) {
    d2h_ += bytes;
    links[from->physical].pcie_sent += bytes;
  } else {
    d2d_ += bytes;
    if (is_imported(to) || is_imported(from)) d2d_ipc_ += bytes;
    if (to->physical == from->physical) return;
    d2d_peer_ += bytes;
    links[from->physical].nvlink_sent += bytes;
    links[to->physical].nvlink_received += bytes;
  }
}

void Report::write() const {
  const char* prefix = std::getenv("CUDA_EMULATOR_REPORT");
  if (prefix == nullptr || *prefix == '\0') return;
  const std::lock_guard lock(driver_mutex());
  auto live_bytes = memory().physical_bytes();
  std::uint64_t live_mappings = 0;
  for (const auto& [base, allocation] : memory().all()) {
    const bool own = allocation.kind == Kind::DEVICE || allocation.kind == Kind::POOLED;
    if (own) live_bytes += allocation.bytes;
    if (allocation.of_other_process()) ++live_mappings;
  }
  const auto line =
      "{\"emulated\": true, \"pid\": " + std::to_string(getpid()) +
      member("devices", machine().devices) + member("visible_devices", machine().visible.size()) +
      member("driver_version", machine().driver_version) + member("forks", forks()) +
      member("ipc_handles", ipc_handles_) + member("ipc_opens", ipc_opens_) +
      member("ipc_closes", ipc_closes_) + member("ipc_left_open", live_mappings) +
      member("device_allocations", device_allocations_) +
      member("managed_allocations", managed_allocations_) +
      member("pinned_allocations", pinned_allocations_) +
      member("host_registrations", host_registrations_) + member("peak_bytes", peak_bytes_) +
      member("left_allocated_bytes", live_bytes) + member("h2h_bytes", h2h_) +
      member("h2d_bytes", h2d_) + member("d2h_bytes", d2h_) + member("d2d_bytes", d2d_) +
      member("d2d_same_device_bytes", d2d_ - d2d_peer_) + member("d2d_peer_bytes", d2d_peer_) +
      member("d2d_ipc_bytes", d2d_ipc_) + member("kernel_launches", kernel_launches_) +
      member("illegal_accesses", illegal_accesses_) + "}\n";
  const auto path = std::string(prefix) + "." + std::to_string(getpid());
  std::FILE* file = std::fopen(path.c_str(), "ae");
  if (file == nullptr) {
    std::fprintf(stderr, "cuda-emulator: cannot write CUDA_EMULATOR_REPORT=%s\n", prefix);
    return;
  }
  std::fputs(line.c_str(), file);
  std::fclose(file);
}

}  // namespace emulator
