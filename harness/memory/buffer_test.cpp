#include "harness/memory/buffer.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "harness/core/activity.hpp"
#include "harness/core/failure.hpp"

namespace ucxbench {
namespace {

TEST(Buffer, IsAlignedZeroedAndWritable) {
  Buffer buffer(MemoryKind::host, 12345);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(buffer.data()) % 4096, 0U);
  EXPECT_EQ(buffer.size(), 12345U);
  EXPECT_TRUE(std::all_of(buffer.data(), buffer.data() + buffer.size(),
                          [](std::byte b) { return b == std::byte{0}; }));
  buffer.data()[12344] = std::byte{1};
}

// The pages that the kernel has already given.
std::ptrdiff_t resident_pages(Buffer& buffer) {
  std::vector<unsigned char> pages(buffer.size() / 4096);
  EXPECT_EQ(mincore(buffer.data(), buffer.size(), pages.data()), 0);
  return std::count_if(pages.begin(), pages.end(), [](auto page) { return (page & 1U) != 0; });
}

TEST(Buffer, LeavesPageFaultsToTheFirstTouchOnlyIfAsked) {
  Buffer touched(MemoryKind::host, std::size_t{64} * 4096);
  EXPECT_EQ(resident_pages(touched), 64);
  Buffer untouched(MemoryKind::host, std::size_t{64} * 4096, Pages::untouched);
  EXPECT_EQ(resident_pages(untouched), 0);
}

TEST(Buffer, CountsThePeakAndMovesOwnership) {
  const auto before = peak_buffer_bytes();
  {
    Buffer a(MemoryKind::host, before + (1U << 20U));
    Buffer b = std::move(a);
    EXPECT_EQ(b.size(), before + (1U << 20U));
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

TEST(Buffer, FillsAndFindsWhatIsWrong) {
  Buffer buffer(MemoryKind::host, 100);
  buffer.fill(100, 7);
  EXPECT_EQ(buffer.mismatch(100, 7), std::nullopt);
  EXPECT_TRUE(buffer.mismatch(100, 8).has_value());
  buffer.data()[42] ^= std::byte{1};
  EXPECT_EQ(buffer.mismatch(100, 7), 42U);
  EXPECT_EQ(buffer.mismatch(42, 7), std::nullopt);
  buffer.zero(43);
  EXPECT_EQ(buffer.data()[42], std::byte{0});
}

TEST(Buffer, CountsAsActivityWhatTakesLong) {
  Buffer buffer(MemoryKind::host, std::size_t{64} << 20U);
  const auto before = activity().count.load();
  buffer.zero(buffer.size());
  EXPECT_GE(activity().count.load(), before + 4);
}

TEST(MemoryPool, CutsAlignedBuffersOutOfOneAllocation) {
  const auto before = peak_buffer_bytes();
  MemoryPool pool(MemoryKind::host, MemoryPool::room_for({before + 1, 5000}));
  auto a = pool.take(before + 1);
  auto b = pool.take(5000);
  EXPECT_EQ(peak_buffer_bytes(), MemoryPool::room_for({before + 1, 5000}));
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(b.data()) % MemoryPool::alignment, 0U);
  EXPECT_GE(b.data(), a.data() + a.size());
  EXPECT_THROW(pool.take(1), Failure);
}

TEST(MemoryPool, LivesAsLongAsItsBuffers) {
  std::optional<Buffer> buffer;
  {
    MemoryPool pool(MemoryKind::host, 4096);
    buffer = pool.take(16);
  }
  buffer->fill(16, 1);
  EXPECT_EQ(buffer->mismatch(16, 1), std::nullopt);
}

TEST(MemoryKind, HasFourNames) {
  for (const auto* name : {"host", "pinned", "cuda", "managed"}) {
    EXPECT_EQ(to_string(parse_memory_kind(name)), name);
  }
  EXPECT_THROW(parse_memory_kind("gpu"), Failure);
  EXPECT_FALSE(needs_cuda(MemoryKind::host));
  EXPECT_TRUE(needs_cuda(MemoryKind::pinned));
}

}  // namespace
}  // namespace ucxbench
