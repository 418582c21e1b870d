#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ci/cuda-emulator/device/block.hpp"
#include "ci/cuda-emulator/device/launch.hpp"
#include "ci/cuda-emulator/device/random.hpp"
#include "ci/cuda-emulator/device/shadow.hpp"

namespace emulator {

/// Judges every use of memory by a kernel, before it happens: whether there is memory, whether it
/// is ordered with what other threads do to the same bytes, and in shared memory whether it was
/// written.
class Accesses {
 public:
  void begin_launch(std::span<const Range> ranges);
  void begin_block(Random& random);

  /// By the thread that runs now, if a kernel runs; does not return from a mistake. `code`: the
  /// instruction.
  void used(std::uintptr_t address, std::size_t bytes, Use use, const void* code) {
    if (block_ == nullptr || !block_->in_thread() || block_->on_own_stack(address)) return;
    judge(address, bytes, use, code);
  }
  /// Threads of all warps read shared memory inside a function that waits for all of them.
  void read_by_all(std::uintptr_t address, std::size_t bytes);

  /// Whether the mistake was an address without memory.
  bool out_of_bounds() const { return out_of_bounds_; }

 private:
  struct Part {
    char *begin = nullptr, *end = nullptr;
  };

  void find_variables();
  void judge(std::uintptr_t address, std::size_t bytes, Use use, const void* code);
  void check_shared(std::uintptr_t address, std::size_t bytes, Use use, const void* code);
  void check_order(Shadow& shadow, std::uintptr_t address, std::size_t bytes, Use use,
                   const Now& now, const void* code);
  const Range* find(std::uintptr_t address);
  [[noreturn]] void fail(Use use, std::uintptr_t address, std::size_t bytes, const void* code,
                         const std::string& what);

  const Block* block_ = nullptr;
  std::vector<Part> variables_;  // of shared memory, without the guards between them
  Part last_;                    // the one that was used last
  std::optional<Shadow> shared_;
  std::span<const Range> ranges_;
  std::array<const Range*, 64> found_{};  // by address, in turn
  std::uint64_t left_ = 0;                // uses until the block is taken never to end
  bool out_of_bounds_ = false;
};

Accesses& accesses();

}  // namespace emulator
