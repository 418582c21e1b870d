#include "bench/p2p/parameters.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "harness/core/names.hpp"
#include "harness/core/or_null.hpp"
#include "harness/core/units.hpp"

namespace ucxbench::p2p {
namespace {

constexpr Names<Concurrent, 3> choices = {
    {{Concurrent::one, "one"}, {Concurrent::disjoint, "disjoint"}, {Concurrent::all, "all"}}};

}  // namespace

Concurrent parse_concurrent(std::string_view name) {
  return parse_name(choices, name, "--concurrent: ", "choice of pairs");
}

std::string_view to_string(Concurrent concurrent) { return name_of(choices, concurrent); }

Json to_json(const Parameters& p) {
  Json json = {{"api", "tag"},
               {"bytes", p.bytes},
               {"concurrent", to_string(p.concurrent)},
               {"memory", p.memory},
               {"transports", p.transports},
               {"connect_by", to_string(p.connect_by)},
               {"net_devices", p.net_devices},
               {"ranks", p.ranks},
               {"window", p.window},
               {"iterations", number_or_null(p.iterations)},
               {"warmup_streams", p.warmup_runs},
               {"streams", p.runs}};
  json["devices"] = p.devices.empty() ? Json() : Json(p.devices);
  return json;
}

Parameters parse_parameters(const Json& json) {
  Parameters p;
  json.at("bytes").get_to(p.bytes);
  p.concurrent = parse_concurrent(json.at("concurrent").get<std::string>());
  json.at("memory").get_to(p.memory);
  json.at("transports").get_to(p.transports);
  p.connect_by = parse_connect_by(json.at("connect_by").get<std::string>());
  json.at("net_devices").get_to(p.net_devices);
  json.at("ranks").get_to(p.ranks);
  json.at("window").get_to(p.window);
  if (!json.at("iterations").is_null()) p.iterations = json.at("iterations").get<int>();
  json.at("warmup_streams").get_to(p.warmup_runs);
  json.at("streams").get_to(p.runs);
  if (!json.at("devices").is_null()) json.at("devices").get_to(p.devices);
  return p;
}

std::string case_key(const Parameters& p) {
  const auto others = p.connect_by == ConnectBy::address ? "" : "/connect-by=sockaddr";
  return fmt::format("p2p/tag/{}-{}/{}/{}/concurrent={}{}/ranks={}", p.memory.front(),
                     p.memory.back(), fmt::join(p.transports, "+"), exact_size(p.bytes),
                     to_string(p.concurrent), others, p.ranks);
}

}  // namespace ucxbench::p2p
