#include "harness/launch/agreement.hpp"

#include <openssl/evp.h>

#include <array>
#include <charconv>
#include <cstdint>

#include "harness/core/failure.hpp"
#include "harness/core/text.hpp"
#include "harness/launch/seal.hpp"

namespace ucxbench {
namespace {

// Of a key, of a secret and of a token.
using KeyBytes = std::array<std::uint8_t, 32>;

void check_agreement(bool done) {
  if (!done) throw Failure(Exit::cannot_run, "cannot agree on a secret with the other processes");
}

KeyBytes bytes_of_hex(const std::string& text) {
  constexpr int sixteen = 16;
  KeyBytes bytes{};
  check_agreement(text.size() == 2 * bytes.size());
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    const char* const end = text.data() + 2 * at + 2;
    check_agreement(std::from_chars(end - 2, end, bytes[at], sixteen).ptr == end);
  }
  return bytes;
}

}  // namespace

KeyAgreement::KeyAgreement() : key_(EVP_PKEY_Q_keygen(nullptr, nullptr, "X25519"), EVP_PKEY_free) {
  check_agreement(key_ != nullptr);
}

std::string KeyAgreement::announced() const {
  KeyBytes bytes{};
  auto size = bytes.size();
  check_agreement(EVP_PKEY_get_raw_public_key(key_.get(), bytes.data(), &size) == 1 &&
                  size == bytes.size());
  return hex_text(bytes);
}

std::string KeyAgreement::veiled(const std::string& token, const std::string& other) const {
  const auto announcement = bytes_of_hex(other);
  const std::shared_ptr<EVP_PKEY> peer(
      EVP_PKEY_new_raw_public_key(EVP_PKEY_X25519, nullptr, announcement.data(),
                                  announcement.size()),
      EVP_PKEY_free);
  const std::shared_ptr<EVP_PKEY_CTX> derivation(EVP_PKEY_CTX_new(key_.get(), nullptr),
                                                 EVP_PKEY_CTX_free);
  KeyBytes secret{};
  auto size = secret.size();
  check_agreement(peer && derivation && EVP_PKEY_derive_init(derivation.get()) == 1 &&
                  EVP_PKEY_derive_set_peer(derivation.get(), peer.get()) == 1 &&
                  EVP_PKEY_derive(derivation.get(), secret.data(), &size) == 1 &&
                  size == secret.size());
  // The secret itself is a point of a curve: not all of its bits are open.
  const auto veil = hmac("ucx-bench token", secret);
  auto bytes = bytes_of_hex(token);
  for (std::size_t at = 0; at < bytes.size(); ++at) bytes[at] ^= veil[at];
  return hex_text(bytes);
}

}  // namespace ucxbench
