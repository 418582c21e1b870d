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

// Whole words by themselves: a copy whose length is known is one instruction.
void fill_pattern(std::span<std::byte> bytes, std::uint64_t seed, std::size_t offset) {
  const auto whole = bytes.size() - bytes.size() % word_bytes;
  for (std::size_t at = 0; at < whole; at += word_bytes) {
    count_work(at);
    const auto value = word(seed, (offset + at) / word_bytes);
    std::memcpy(bytes.data() + at, &value, word_bytes);
  }
  const auto last = word(seed, (offset + whole) / word_bytes);
  if (whole < bytes.size()) std::memcpy(bytes.data() + whole, &last, bytes.size() - whole);
}

std::optional<std::size_t> find_mismatch(std::span<const std::byte> bytes, std::uint64_t seed,
                                         std::size_t offset) {
  const auto whole = bytes.size() - bytes.size() % word_bytes;
  std::size_t at = 0;
  for (; at < whole; at += word_bytes) {
    count_work(at);
    std::uint64_t found = 0;
    std::memcpy(&found, bytes.data() + at, word_bytes);
    if (found != word(seed, (offset + at) / word_bytes)) break;
  }
  const auto expected = word(seed, (offset + at) / word_bytes);
  const auto* right = reinterpret_cast<const std::byte*>(&expected);
  const auto rest = bytes.subspan(at, std::min(word_bytes, bytes.size() - at));
  const auto wrong = std::mismatch(rest.begin(), rest.end(), right).first;
  if (wrong == rest.end()) return std::nullopt;
  return at + static_cast<std::size_t>(wrong - rest.begin());
}

}  // namespace ucxbench
