#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <optional>
#include <string>
#include <utility>

#include "harness/core/failure.hpp"
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

}  // namespace ucxbench
