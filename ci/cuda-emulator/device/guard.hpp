#pragma once

#include <array>
#include <cstdint>

namespace emulator {

/// Lies between two __shared__ variables, so that an index beyond one does not meet the other.
struct Guard {
  static constexpr std::uint64_t WORD = 0x6b7d0c93f1a852e4;
  std::array<std::uint64_t, 512> words;
};

constexpr Guard whole_guard() {
  Guard guard{};
  guard.words.fill(Guard::WORD);
  return guard;
}

}  // namespace emulator
