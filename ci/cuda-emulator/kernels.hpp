#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

#include "ci/cuda-emulator/driver.hpp"
#include "ci/cuda-emulator/memory.hpp"
#include "ci/cuda-emulator/report.hpp"

namespace emulator {

/// Does on the host what a kernel does, given its parameters as cuLaunchKernel takes them. Callers
/// hold driver_mutex.
using Body = Result (*)(void** parameters);

/// The body of a kernel; null if there is none of that name.
Body body_of(const char* kernel);

struct Known {
  std::string_view kernel;
  Body body;
};

/// Those of each workload.
std::span<const Known> merge_kernels();
std::span<const Known> transpose_kernels();

struct IllegalAccess {};

/// Words of a device from an address on, each access checked as a GPU would.
template <typename Word>
class DeviceWords {
 public:
  explicit DeviceWords(Word* device) {
    const auto address = reinterpret_cast<std::uintptr_t>(device);
    const auto* allocation = memory().find(address);
    if (allocation == nullptr) return;
    words_ = reinterpret_cast<Word*>(allocation->at(address));
    count_ = (allocation->end() - address) / sizeof(Word);
  }

  Word& operator[](std::uint64_t index) const {
    if (index >= count_) throw IllegalAccess();
    return words_[index];
  }

 private:
  Word* words_ = nullptr;
  std::uint64_t count_ = 0;
};

/// Runs `work` on a kernel's one parameter.
template <typename Arguments, void (*work)(const Arguments&)>
Result run_body(void** parameters) {
  Arguments arguments;
  std::memcpy(&arguments, parameters[0], sizeof arguments);
  try {
    work(arguments);
    return SUCCESS;
  } catch (const IllegalAccess&) {
    report().refused_access();
    return ILLEGAL_ADDRESS;
  }
}

template <typename Arguments, void (*work)(const Arguments&)>
constexpr Known known() {
  return {Arguments::kernel, run_body<Arguments, work>};
}

}  // namespace emulator
