#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "harness/core/host_device.hpp"

namespace ucxbench {

/// The finalizer of splitmix64 (Steele, Lea, Flood, OOPSLA 2014; constants of Stafford's mix 13): a
/// bijection of 64-bit words.
UCXBENCH_HOST_DEVICE constexpr std::uint64_t mix64(std::uint64_t x) {
  x ^= x >> 30U;
  x *= 0xbf58476d1ce4e5b9U;
  x ^= x >> 27U;
  x *= 0x94d049bb133111ebU;
  x ^= x >> 31U;
  return x;
}

/// The seed of one message's payload: another for every sender, size and round.
constexpr std::uint64_t payload_seed(int sender, std::uint64_t bytes, std::uint64_t round) {
  return mix64(bytes) + (static_cast<std::uint64_t>(sender) << 32U) + round;
}

/// Writes the payload that belongs to `seed`: the 64-bit words mix64(seed·φ + index), the last one
/// cut off. No two offsets repeat, so a shifted or torn message is noticed. `bytes` are the part of
/// the payload from `offset` on, a multiple of 8.
void fill_pattern(std::span<std::byte> bytes, std::uint64_t seed, std::size_t offset = 0);

/// Where in `bytes` the first byte is that differs from that part of the payload of `seed`; empty
/// when all is right.
std::optional<std::size_t> find_mismatch(std::span<const std::byte> bytes, std::uint64_t seed,
                                         std::size_t offset = 0);

}  // namespace ucxbench
