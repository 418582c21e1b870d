#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "harness/core/failure.hpp"
#include "harness/memory/buffer.hpp"
#include "harness/memory/cuda_driver.hpp"

namespace ucxbench {

/// A test on the first GPU, real or emulated; skipped where there is none, or nothing to run on it.
class OnGpu : public testing::Test {
 protected:
  explicit OnGpu(std::string why_no_kernels) : why_no_kernels_(std::move(why_no_kernels)) {}

  void SetUp() override {
    if (!why_no_kernels_.empty()) GTEST_SKIP() << why_no_kernels_;
    try {
      context_.emplace(0);
    } catch (const Failure& failure) {
      // Where the test says that there is a driver, its absence is no excuse.
      ASSERT_FALSE(is_emulated()) << failure.what();
      GTEST_SKIP() << failure.what();
    }
  }

  /// On the emulated driver a kernel takes so much longer that large shapes are left out.
  static bool is_emulated() { return std::getenv("CUDA_EMULATOR") != nullptr; }

 private:
  std::string why_no_kernels_;
  std::optional<CudaContext> context_;
};

/// Elements in memory of one kind, with something behind the last one that nobody may write.
class Elements {
 public:
  static constexpr double untouched = -5;

  /// `skipped` elements come before, so that the first one lies anywhere in a cache line.
  Elements(MemoryKind kind, std::uint64_t count, std::uint64_t skipped = 0)
      : skipped_(skipped),
        count_(count),
        buffer_(kind, (skipped + count + 1) * sizeof(double), Pages::untouched) {
    fill();
  }

  void fill() {
    const std::vector<double> all(skipped_ + count_ + 1, untouched);
    copy_bytes(buffer_.kind(), buffer_.data(), all.data(), all.size() * sizeof(double));
  }

  double* data() { return reinterpret_cast<double*>(buffer_.data()) + skipped_; }

  std::vector<double> read() {
    std::vector<double> all(count_ + 1);
    copy_bytes(buffer_.kind(), all.data(), data(), all.size() * sizeof(double));
    EXPECT_EQ(all.back(), untouched);
    all.pop_back();
    return all;
  }

  void write(std::uint64_t at, const std::vector<double>& values) {
    copy_bytes(buffer_.kind(), data() + at, values.data(), values.size() * sizeof(double));
  }

 private:
  std::uint64_t skipped_, count_;
  Buffer buffer_;
};

}  // namespace ucxbench
