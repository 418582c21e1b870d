#pragma once

#include <cstdint>

namespace ucxbench::merge {

/// Rows of 8-byte columns: column c of row i is words[c * stride + i]; column 0 is the key.
struct Rows {
  const std::uint64_t* words = nullptr;
  std::uint64_t rows = 0;
  std::uint64_t stride = 0;
};

/// Where joined rows go: columns key, build payloads, probe payloads, each `capacity` words on from
/// the one before; `rows` of them are filled.
struct Joined {
  std::uint64_t* words = nullptr;
  std::uint64_t capacity = 0;
  std::uint64_t rows = 0;
};

}  // namespace ucxbench::merge
