#pragma once

#include <string>
#include <utility>
#include <vector>

#include "harness/core/cbor.hpp"
#include "harness/core/failure.hpp"
#include "harness/launch/rendezvous.hpp"
#include "harness/result/result.hpp"

namespace ucxbench {

// Values that ranks and coordinator exchange through a Rendezvous: JSON as CBOR (RFC 8949), which
// keeps every double exact.
inline Rendezvous::Bytes to_bytes(const Json& value) { return Json::to_cbor(value); }
inline Json from_bytes(const Rendezvous::Bytes& bytes) {
  if (auto value = json_from_cbor(bytes)) return std::move(*value);
  throw Failure(Exit::lost, "a rank sent bytes that are no value");
}

/// On rank 0 what every rank has under `name`, which none has used before, by rank; on others
/// nothing. All ranks call it.
inline std::vector<Json> gather(Rendezvous& rendezvous, const std::string& name, const Json& own,
                                const Rendezvous::Progress& progress) {
  const auto key = [&](int rank) { return name + "/" + std::to_string(rank); };
  if (rendezvous.rank() != 0) {
    rendezvous.put(key(rendezvous.rank()), to_bytes(own), progress);
    return {};
  }
  std::vector<Json> all = {own};
  for (int rank = 1; rank < rendezvous.size(); ++rank) {
    all.push_back(from_bytes(rendezvous.get(key(rank), progress)));
  }
  return all;
}

}  // namespace ucxbench
