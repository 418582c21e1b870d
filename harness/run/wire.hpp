#pragma once

#include "harness/launch/rendezvous.hpp"
#include "harness/result/result.hpp"

namespace ucxbench {

// Values that ranks and coordinator exchange through a Rendezvous: JSON as CBOR (RFC 8949), which
// keeps every double exact.
inline Rendezvous::Bytes to_bytes(const Json& value) { return Json::to_cbor(value); }
inline Json from_bytes(const Rendezvous::Bytes& bytes) { return Json::from_cbor(bytes); }

}  // namespace ucxbench
