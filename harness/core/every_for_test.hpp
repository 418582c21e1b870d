#pragma once

#include <cstddef>

// For tests.

namespace ucxbench {

/// A test of many like trials makes one in so many: all in a build without sanitizers, which make
/// each ten to fifty times as long. Fuzzers run the same readers with sanitizers for longer.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr std::size_t every_trial = 5;
#else
inline constexpr std::size_t every_trial = 1;
#endif

}  // namespace ucxbench
