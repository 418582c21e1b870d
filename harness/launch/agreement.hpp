#pragma once

#include <memory>
#include <string>

struct evp_pkey_st;  // OpenSSL's EVP_PKEY

namespace ucxbench {

/// One side of an agreement on a secret by X25519 (RFC 7748). Who reads what both sides announce
/// does not have the secret. Who can change it can agree with each of them.
class KeyAgreement {
 public:
  /// With a fresh key. Throws Failure(Exit::cannot_run), as `veiled` does.
  KeyAgreement();

  /// What the other side is to know: 64 hexadecimal digits.
  std::string announced() const;

  /// A token of 64 hexadecimal digits so that only the side which has announced `other` can read
  /// it, by the same call. For one token only.
  std::string veiled(const std::string& token, const std::string& other) const;

 private:
  std::shared_ptr<evp_pkey_st> key_;
};

}  // namespace ucxbench
