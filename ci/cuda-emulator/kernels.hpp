#pragma once

#include "ci/cuda-emulator/device/thread.hpp"

namespace emulator {

/// A kernel that is compiled for the host. As in thread.hpp, nothing of the C++ library: this is
/// compiled as a part of the kernels too.
struct Kernel {
  const char* name;
  std::size_t argument_bytes;  ///< of its one parameter
  /// What each thread does.
  void (*body)(const void* arguments);
};

/// Those of each workload, the last one without a name; null behind the last workload.
extern const Kernel* const all_kernels[];

/// The kernel of a name; null if there is none.
const Kernel* find_kernel(const char* name);

/// The kernel `function`, whose one parameter bears its name.
template <auto function, typename Arguments>
constexpr Kernel kernel_of(void (*)(Arguments)) {
  return {Arguments::kernel, sizeof(Arguments),
          [](const void* arguments) { function(*static_cast<const Arguments*>(arguments)); }};
}

template <auto function>
constexpr Kernel kernel() {
  return kernel_of<function>(function);
}

}  // namespace emulator
