#include "workloads/common/parameters.hpp"

#include <fmt/format.h>

namespace ucxbench {

using Json = nlohmann::ordered_json;

Json to_json(const WorkloadParameters& p) {
  const std::string kind(to_string(p.memory));
  Json json = {{"api", "tag"},
               {"memory", {kind, kind}},
               {"no_pool", !p.pool},
               {"transports", p.transports},
               {"connect_by", to_string(p.connect_by)},
               {"net_devices", p.net_devices},
               {"ranks", p.ranks},
               {"warmup_runs", p.warmup_runs},
               {"runs", p.runs},
               {"calibrations", p.calibrations},
               {"transfer_log", p.transfer_log},
               {"ignore_bytes", p.ignore_bytes}};
  json["pool_bytes"] = p.pool_bytes != 0 ? Json(p.pool_bytes) : Json();
  json["scaling"] = p.scaling != Scaling::unsaid ? Json(to_string(p.scaling)) : Json();
  json["like"] = !p.like.empty() ? Json(p.like) : Json();
  json["scale"] = !p.like.empty() ? Json(p.scale) : Json();
  json["devices"] = p.devices.empty() ? Json() : Json(p.devices);
  return json;
}

WorkloadParameters parse_workload_parameters(const Json& json) {
  WorkloadParameters p;
  p.memory = parse_memory_kind(json.at("memory").at(0).get<std::string>());
  p.pool = !json.at("no_pool").get<bool>();
  if (!json.at("pool_bytes").is_null()) json.at("pool_bytes").get_to(p.pool_bytes);
  if (!json.at("devices").is_null()) json.at("devices").get_to(p.devices);
  json.at("transports").get_to(p.transports);
  p.connect_by = parse_connect_by(json.at("connect_by").get<std::string>());
  json.at("net_devices").get_to(p.net_devices);
  json.at("ranks").get_to(p.ranks);
  if (!json.at("scaling").is_null()) {
    p.scaling = parse_scaling(json.at("scaling").get<std::string>());
  }
  if (!json.at("like").is_null()) {
    json.at("like").get_to(p.like);
    json.at("scale").get_to(p.scale);
  }
  json.at("warmup_runs").get_to(p.warmup_runs);
  json.at("runs").get_to(p.runs);
  json.at("calibrations").get_to(p.calibrations);
  json.at("transfer_log").get_to(p.transfer_log);
  json.at("ignore_bytes").get_to(p.ignore_bytes);
  return p;
}

std::map<std::string, std::string> unusual(const WorkloadParameters& p) {
  std::map<std::string, std::string> others;
  if (p.connect_by != ConnectBy::address) others["connect-by"] = to_string(p.connect_by);
  if (!p.pool) others["pool"] = "none";
  others["ranks"] = fmt::format("{}", p.ranks);
  return others;
}

}  // namespace ucxbench
