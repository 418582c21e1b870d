#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>

#include "harness/core/json.hpp"

namespace ucxbench {

/// One value that another process has sent as CBOR (RFC 8949). None where the bytes are anything
/// else, have a key twice in one object, or are nested deeper than most_json_levels: nlohmann's
/// reader calls itself for each level.
std::optional<nlohmann::json> from_cbor(std::span<const std::uint8_t> bytes);

/// The same with the members of objects in their order.
std::optional<Json> json_from_cbor(std::span<const std::uint8_t> bytes);

}  // namespace ucxbench
