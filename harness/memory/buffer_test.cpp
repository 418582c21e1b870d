#include "harness/memory/buffer.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>

#include "harness/core/failure.hpp"

namespace ucxbench {
namespace {

TEST(Buffer, IsAlignedZeroedAndWritable) {
  Buffer buffer(MemoryKind::host, 12345);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(buffer.bytes().data()) % 4096, 0U);
  EXPECT_EQ(buffer.bytes().size(), 12345U);
  EXPECT_TRUE(std::all_of(buffer.bytes().begin(), buffer.bytes().end(),
                          [](std::byte b) { return b == std::byte{0}; }));
  buffer.bytes().back() = std::byte{1};
}

TEST(Buffer, CountsThePeakAndMovesOwnership) {
  const auto before = peak_buffer_bytes();
  {
    Buffer a(MemoryKind::host, before + (1U << 20U));
    Buffer b = std::move(a);
    EXPECT_EQ(b.bytes().size(), before + (1U << 20U));
  }
  EXPECT_EQ(peak_buffer_bytes(), before + (1U << 20U));
  Buffer small(MemoryKind::host, 1);
  EXPECT_EQ(peak_buffer_bytes(), before + (1U << 20U));
}

TEST(Buffer, ImpossibleSizeIsOneLine) {
  try {
    Buffer buffer(MemoryKind::host, std::size_t{1} << 60U);
    FAIL();
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.exit(), Exit::cannot_run);
    EXPECT_NE(std::string(failure.what()).find("1048576 TiB"), std::string::npos) << failure.what();
  }
}

TEST(Memory, IsAvailable) {
  EXPECT_GT(available_memory_bytes(), 1U << 20U);
  EXPECT_LT(available_memory_bytes(), std::uint64_t{1} << 50U);
}

}  // namespace
}  // namespace ucxbench
