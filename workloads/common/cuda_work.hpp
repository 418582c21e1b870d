#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "harness/core/activity.hpp"
#include "harness/memory/buffer.hpp"
#include "harness/memory/cuda_module.hpp"

namespace ucxbench {

/// The kernels of one fat binary at work on this rank's GPU, on a stream of their own; whoever
/// waits for them calls `progress` over and over. Throws Failure(Exit::cannot_run).
class CudaWork {
 public:
  /// `most_words`: of with_words.
  CudaWork(const void* fat_binary, std::size_t most_words, std::function<void()> progress);

  template <typename Arguments>
  void launch(const CudaGrid& grid, const Arguments& arguments) {
    stream_.launch(module_, grid, arguments);
  }

  /// Returns when all that was launched is done.
  void finish() {
    stream_.finish(progress_);
    activity().bump();
  }

  void progress() const { progress_(); }

  /// Brings `words` to the GPU, lets `queue` launch what uses them, and returns what became of
  /// them.
  template <typename Queue>
  std::vector<std::uint64_t> with_words(const std::vector<std::uint64_t>& words, Queue queue) {
    const auto bytes = words.size() * sizeof(std::uint64_t);
    std::copy(words.begin(), words.end(), words_in(staged_));
    stream_.copy(words_.data(), staged_.data(), bytes);
    queue(words_in(words_));
    stream_.copy(staged_.data(), words_.data(), bytes);
    finish();
    return {words_in(staged_), words_in(staged_) + words.size()};
  }

 private:
  static std::uint64_t* words_in(Buffer& buffer) {
    return reinterpret_cast<std::uint64_t*>(buffer.data());
  }

  std::function<void()> progress_;
  CudaModule module_;
  CudaStream stream_;
  Buffer words_, staged_;
};

}  // namespace ucxbench
