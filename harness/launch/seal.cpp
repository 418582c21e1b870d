#include "harness/launch/seal.hpp"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <algorithm>
#include <vector>

#include "harness/core/failure.hpp"

namespace ucxbench {

Mac hmac(std::string_view key, std::span<const std::uint8_t> first,
         std::span<const std::uint8_t> second) {
  std::vector<std::uint8_t> text(first.begin(), first.end());
  text.insert(text.end(), second.begin(), second.end());
  Mac mac{};
  unsigned size = 0;
  if (HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()), text.data(), text.size(),
           mac.data(), &size) == nullptr ||
      size != mac.size()) {
    throw Failure(Exit::cannot_run, "cannot compute HMAC-SHA256");
  }
  return mac;
}

bool same(std::span<const std::uint8_t> a, std::span<const std::uint8_t> b) {
  return a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

Seal::Tag Seal::next(std::span<const std::uint8_t> piece) {
  std::array<std::uint8_t, sizeof count_> number{};
  for (std::size_t i = 0; i < number.size(); ++i) {
    number[i] = static_cast<std::uint8_t>(count_ >> (8 * i));
  }
  ++count_;
  const auto mac = hmac(key_, number, piece);
  Tag tag{};
  std::copy_n(mac.begin(), tag.size(), tag.begin());
  return tag;
}

}  // namespace ucxbench
