#include "harness/memory/buffer.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "harness/core/activity.hpp"
#include "harness/core/failure.hpp"
#include "harness/memory/host_pages.hpp"

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
  std::vector<unsigned char> pages(buffer.size() / static_cast<std::size_t>(::getpagesize()));
  EXPECT_EQ(mincore(buffer.data(), buffer.size(), pages.data()), 0);
  return std::count_if(pages.begin(), pages.end(), [](auto page) { return (page & 1U) != 0; });
}

TEST(Buffer, LeavesPageFaultsToTheFirstTouchOnlyIfAsked) {
  const auto bytes = 64 * static_cast<std::size_t>(::getpagesize());
  Buffer touched(MemoryKind::host, bytes);
  EXPECT_EQ(resident_pages(touched), 64);
  Buffer untouched(MemoryKind::host, bytes, Pages::untouched);
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
}

// Whatever a message brings is told from it: its bytes, whole numbers, and what was poisoned
// before.
TEST(Buffer, IsPoisonedByWhatNoMessageBrings) {
  constexpr std::size_t bytes = 803;
  Buffer buffer(MemoryKind::host, 1000);
  buffer.fill(1000, 7);
  buffer.poison(bytes);
  const std::vector<std::byte> first(buffer.data(), buffer.data() + bytes);
  for (std::size_t at = 0; at + sizeof(double) <= bytes; at += sizeof(double)) {
    double element = 0;
    std::memcpy(&element, buffer.data() + at, sizeof element);
    EXPECT_TRUE(std::isnan(element)) << at;
  }
  Buffer untouched(MemoryKind::host, 1000);
  untouched.fill(1000, 7);
  EXPECT_TRUE(std::equal(buffer.data() + bytes, buffer.data() + 1000, untouched.data() + bytes));
  buffer.poison();
  EXPECT_FALSE(std::equal(first.begin(), first.end(), buffer.data()));
  EXPECT_EQ(buffer.mismatch(1000, 7), 0U);
}

TEST(Buffer, CountsAsActivityWhatTakesLong) {
  Buffer buffer(MemoryKind::host, std::size_t{64} << 20U);
  const auto before = activity().count.load();
  buffer.poison();
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

std::string why_not(const MemoryKind& kind, std::size_t bytes) {
  try {
    const HostPages pages(kind, bytes);
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.exit(), Exit::cannot_run);
    return failure.what();
  }
  return "";
}

TEST(HostPages, AreOnTheNodeOrNameThoseThereAre) {
  const auto nodes = memory_nodes();
  if (nodes.empty()) GTEST_SKIP() << "the system names no NUMA nodes";
  const auto other = parse_memory_kind("host:node1000");
  EXPECT_NE(why_no_memory(other).find("may have memory on NUMA node"), std::string::npos);
  EXPECT_THROW(Buffer(other, 4096), Failure);
  const MemoryKind own{MemoryPlace::host, MemoryWay::node, nodes.back()};
  const auto refused = why_no_memory(own);
  if (!refused.empty()) GTEST_SKIP() << refused;  // a container may not bind memory
  Buffer buffer(own, std::size_t{5000} * 4096 + 1);
  EXPECT_EQ(buffer.kind(), own);
  buffer.fill(buffer.size(), 3);
  EXPECT_EQ(buffer.mismatch(buffer.size(), 3), std::nullopt);
  // Without a touch a page is nowhere.
  EXPECT_THROW(HostPages(own, 4096).check_node(), Failure);
}

TEST(HostPages, AreHugeOrSayHowToGetThem) {
  const auto kind = parse_memory_kind("host:huge");
  const auto page = page_bytes(kind);
  if (page == 0) GTEST_SKIP() << "a kernel without huge pages";
  EXPECT_NE(why_not(kind, std::size_t{1} << 50U).find("sysctl vm.nr_hugepages"), std::string::npos);
  if (const auto none = why_no_memory(kind); !none.empty()) {
    EXPECT_NE(none.find("needs 1 huge page of"), std::string::npos) << none;
    GTEST_SKIP() << none;
  }
  Buffer buffer(kind, 4097);
  EXPECT_EQ(kernel_page_bytes(buffer.data()), page);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(buffer.data()) % page, 0U);
}

TEST(HostPages, OfOtherKindsAreTheSystems) {
  const Buffer buffer(MemoryKind::host, 4096);
  EXPECT_EQ(kernel_page_bytes(buffer.data()), page_bytes(MemoryKind::host));
  EXPECT_EQ(kernel_page_bytes(nullptr), 0U);
}

TEST(MemoryKind, IsCalledAsItIsRecorded) {
  for (const auto* name :
       {"host", "host:huge", "host:node0", "host:node12", "pinned", "cuda", "cuda:async",
        "cuda:vmm", "cuda:fabric", "managed", "managed:gpu", "managed:host", "managed:read"}) {
    EXPECT_EQ(to_string(parse_memory_kind(name)), name);
  }
  for (const auto* name : {"gpu", "cuda:", "host:node", "host:node-1", "host:node01", "host:node1x",
                           "host:node99999999999"}) {
    EXPECT_THROW(parse_memory_kind(name), Failure) << name;
  }
  EXPECT_EQ(parse_memory_kind("cuda"), MemoryKind::cuda);
  EXPECT_FALSE(needs_cuda(parse_memory_kind("host:huge")));
  EXPECT_TRUE(needs_cuda(MemoryKind::pinned));
  EXPECT_TRUE(host_may_touch(MemoryKind::pinned));
  EXPECT_TRUE(on_gpu(parse_memory_kind("cuda:vmm")));
  EXPECT_FALSE(host_may_touch(parse_memory_kind("managed:host")));
}

}  // namespace
}  // namespace ucxbench
