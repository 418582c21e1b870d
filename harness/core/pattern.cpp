#include "harness/core/pattern.hpp"

#include <algorithm>
#include <cstring>

#include "harness/core/activity.hpp"

namespace ucxbench {
namespace {

constexpr std::size_t word_bytes = sizeof(std::uint64_t);

// Filling and comparing gigabytes takes as long as a time-out: it counts as activity now and then.
void count_work(std::size_t at) {
  constexpr std::size_t step = std::size_t{16} << 20U;
  if (at % step == 0) activity().bump();
}

std::uint64_t word(std::uint64_t seed, std::size_t index) {
  constexpr std::uint64_t golden = 0x9e3779b97f4a7c15U;
  return mix64(seed * golden + index + 1);
}

}  // namespace

void fill_pattern(std::span<std::byte> bytes, std::uint64_t seed, std::size_t offset) {
  for (std::size_t at = 0; at < bytes.size(); at += word_bytes) {
    count_work(at);
    const auto value = word(seed, (offset + at) / word_bytes);
    std::memcpy(bytes.data() + at, &value, std::min(word_bytes, bytes.size() - at));
  }
}

std::optional<std::size_t> find_mismatch(std::span<const std::byte> bytes, std::uint64_t seed,
                                         std::size_t offset) {
  for (std::size_t at = 0; at < bytes.size(); at += word_bytes) {
    count_work(at);
    const auto expected = word(seed, (offset + at) / word_bytes);
    const auto length = std::min(word_bytes, bytes.size() - at);
    if (std::memcmp(bytes.data() + at, &expected, length) == 0) continue;
    const auto* right = reinterpret_cast<const std::byte*>(&expected);
    const auto* wrong = bytes.data() + at;
    return at + static_cast<std::size_t>(std::mismatch(right, right + length, wrong).first - right);
  }
  return std::nullopt;
}

}  // namespace ucxbench
