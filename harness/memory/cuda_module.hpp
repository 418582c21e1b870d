#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <string>

#include "harness/memory/cuda_driver.hpp"

namespace ucxbench {

/// Kernels of a fat binary, loaded into the current context. Throws Failure(Exit::cannot_run), as
/// all here does, with the driver's own words.
class CudaModule {
 public:
  explicit CudaModule(const void* fat_binary);
  CudaModule(const CudaModule&) = delete;
  CudaModule& operator=(const CudaModule&) = delete;
  ~CudaModule();

 private:
  friend class CudaStream;
  void* function(const char* name);

  void* handle_ = nullptr;
  std::map<std::string, void*, std::less<>> functions_;
};

/// How many blocks of how many threads run a kernel.
struct CudaGrid {
  unsigned blocks = 1, rows_of_blocks = 1;
  unsigned threads = 1;
};

/// Work of the GPU in the order in which it was given, beside all other work there (a non-blocking
/// stream of the current context).
class CudaStream {
 public:
  CudaStream();
  CudaStream(const CudaStream&) = delete;
  CudaStream& operator=(const CudaStream&) = delete;
  ~CudaStream();

  /// Runs `Arguments::kernel`, which takes one parameter: these.
  template <typename Arguments>
  void launch(CudaModule& module, const CudaGrid& grid, Arguments arguments) {
    launch(module, Arguments::kernel, grid, &arguments);
  }

  /// For libraries: a CUstream, which is their cudaStream_t.
  void* native() const { return handle_; }

  /// Host memory must be pinned and stay until the work is finished.
  void copy(std::byte* to, const std::byte* from, std::size_t bytes);

  /// Returns when all work is done; until then calls `meanwhile` over and over.
  void finish(const std::function<void()>& meanwhile);

 private:
  void launch(CudaModule& module, const char* kernel, const CudaGrid& grid, void* arguments);

  void* handle_ = nullptr;
  void* event_ = nullptr;
};

}  // namespace ucxbench
