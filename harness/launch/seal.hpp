#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace ucxbench {

using Mac = std::array<std::uint8_t, 32>;

/// HMAC-SHA256 (RFC 2104), of the parts one after the other. Throws Failure(Exit::cannot_run) when
/// OpenSSL cannot.
Mac hmac(std::string_view key, std::span<const std::uint8_t> first,
         std::span<const std::uint8_t> second = {});

/// Compares in a time that tells nothing about where they differ.
bool same(std::span<const std::uint8_t> a, std::span<const std::uint8_t> b);

/// Proves that a piece of a stream comes from who has the key: half of its HMAC together with its
/// number (RFC 2104, 5: half is enough), so that none can be changed, left out, repeated or moved.
/// Of one direction of a connection, and thread.
class Seal {
 public:
  using Tag = std::array<std::uint8_t, 16>;

  explicit Seal(std::string key) : key_(std::move(key)) {}

  /// Of the next piece.
  Tag next(std::span<const std::uint8_t> piece);

 private:
  std::string key_;
  std::uint64_t count_ = 0;
};

/// Of both directions: with one key for both, a piece could be sent back.
struct Seals {
  Seal sent, received;
};

}  // namespace ucxbench
