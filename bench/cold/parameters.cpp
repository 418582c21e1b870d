#include "bench/cold/parameters.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "harness/core/names.hpp"
#include "harness/core/units.hpp"

namespace ucxbench::cold {
namespace {

constexpr Names<Buffers, 3> kinds = {
    {{Buffers::pool, "pool"}, {Buffers::own, "own"}, {Buffers::fresh, "fresh"}}};

}  // namespace

Buffers parse_buffers(std::string_view name) {
  return parse_name(kinds, name, "", "kind of buffers");
}

std::string_view to_string(Buffers buffers) { return name_of(kinds, buffers); }

Json to_json(const Parameters& p) {
  Json json = {{"api", "tag"},
               {"bytes", p.bytes},
               {"peers", p.peers},
               {"buffers", to_string(p.buffers)},
               {"memory", p.memory},
               {"transports", p.transports},
               {"net_devices", p.net_devices},
               {"ranks", p.ranks},
               {"iterations", p.iterations}};
  json["pool_bytes"] = p.pool_bytes != 0 ? Json(p.pool_bytes) : Json();
  json["devices"] = p.devices.empty() ? Json() : Json(p.devices);
  return json;
}

Parameters parse_parameters(const Json& json) {
  Parameters p;
  json.at("bytes").get_to(p.bytes);
  json.at("peers").get_to(p.peers);
  p.buffers = parse_buffers(json.at("buffers").get<std::string>());
  json.at("memory").get_to(p.memory);
  json.at("transports").get_to(p.transports);
  json.at("net_devices").get_to(p.net_devices);
  json.at("ranks").get_to(p.ranks);
  json.at("iterations").get_to(p.iterations);
  if (!json.at("pool_bytes").is_null()) json.at("pool_bytes").get_to(p.pool_bytes);
  if (!json.at("devices").is_null()) json.at("devices").get_to(p.devices);
  return p;
}

std::string case_key(const Parameters& p) {
  return fmt::format("cold/tag/{}-{}/{}/{}/peers={}/buffers={}", p.memory.front(), p.memory.back(),
                     fmt::join(p.transports, "+"), exact_size(p.bytes), p.peers,
                     to_string(p.buffers));
}

}  // namespace ucxbench::cold
