#pragma once

#include <cstdint>
#include <string_view>

namespace ucxbench {

/// FNV-1a, 64 bits (Fowler, Noll, Vo): a label, not a proof.
constexpr std::uint64_t fnv1a(std::string_view text) {
  std::uint64_t hash = 14695981039346656037U;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211U;
  return hash;
}

}  // namespace ucxbench
