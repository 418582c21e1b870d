#include "bench/pingpong/parameters.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>

#include "harness/core/failure.hpp"
#include "harness/core/or_null.hpp"
#include "harness/core/text.hpp"
#include "harness/core/units.hpp"

namespace ucxbench::pingpong {
namespace {

std::vector<std::string> measured(const Parameters& p) {
  std::vector<std::string> names;
  if (p.latency) names.emplace_back("latency");
  if (p.bandwidth) names.emplace_back("bandwidth");
  return names;
}

}  // namespace

Check parse_check(std::string_view name) {
  if (name == "off") return Check::off;
  if (name == "sample") return Check::sample;
  if (name == "full") return Check::full;
  throw Failure(Exit::usage, "--check: " + unknown_name("amount", name, {"full", "sample", "off"}));
}

std::string_view to_string(Check check) {
  switch (check) {
    case Check::off:
      return "off";
    case Check::sample:
      return "sample";
    case Check::full:
      break;
  }
  return "full";
}

void set_measured(Parameters& p, std::string_view list) {
  p.latency = p.bandwidth = false;
  for (const auto name : split_text(list, ',')) {
    if (name != "latency" && name != "bandwidth") {
      throw Failure(Exit::usage,
                    "--measure: " + unknown_name("metric", name, {"latency", "bandwidth"}));
    }
    (name == "latency" ? p.latency : p.bandwidth) = true;
  }
}

Json to_json(const Parameters& p) {
  Json json = {{"api", to_string(p.api)},
               {"bytes", p.bytes},
               {"window", p.window},
               {"measure", measured(p)},
               {"bidirectional", p.bidirectional},
               {"memory", p.memory},
               {"no_pool", !p.pool},
               {"transports", p.transports},
               {"progress_mode", p.progress.name()},
               {"connect_by", to_string(p.connect_by)},
               {"net_devices", p.net_devices},
               {"ranks", p.ranks},
               {"warmup_runs", p.warmup_runs},
               {"check", to_string(p.check)},
               {"time_per_launch_ns", p.time_per_launch.count()}};
  json["pool_bytes"] = p.pool_bytes != 0 ? Json(p.pool_bytes) : Json();
  json["devices"] = p.devices.empty() ? Json() : Json(p.devices);
  json["iterations"] = number_or_null(p.iterations);
  return json;
}

Parameters parse_parameters(const Json& json) {
  Parameters p;
  p.api = parse_api(json.at("api").get<std::string>());
  json.at("bytes").get_to(p.bytes);
  json.at("window").get_to(p.window);
  set_measured(
      p, fmt::format("{}", fmt::join(json.at("measure").get<std::vector<std::string>>(), ",")));
  json.at("bidirectional").get_to(p.bidirectional);
  json.at("memory").get_to(p.memory);
  p.pool = !json.at("no_pool").get<bool>();
  if (!json.at("pool_bytes").is_null()) json.at("pool_bytes").get_to(p.pool_bytes);
  if (!json.at("devices").is_null()) json.at("devices").get_to(p.devices);
  json.at("transports").get_to(p.transports);
  p.progress = ProgressMode::parse(json.at("progress_mode").get<std::string>());
  p.connect_by = parse_connect_by(json.at("connect_by").get<std::string>());
  json.at("net_devices").get_to(p.net_devices);
  json.at("ranks").get_to(p.ranks);
  json.at("warmup_runs").get_to(p.warmup_runs);
  p.check = parse_check(json.at("check").get<std::string>());
  p.time_per_launch = std::chrono::nanoseconds(json.at("time_per_launch_ns").get<std::int64_t>());
  if (!json.at("iterations").is_null()) p.iterations = json.at("iterations").get<std::uint64_t>();
  return p;
}

std::string case_key(const Parameters& p) {
  auto key = fmt::format("pingpong/{}/{}-{}/{}/{}", to_string(p.api), p.memory.front(),
                         p.memory.back(), fmt::join(p.transports, "+"), exact_size(p.bytes));
  const Parameters usual;
  std::map<std::string, std::string> others;
  if (p.connect_by != usual.connect_by) others["connect-by"] = to_string(p.connect_by);
  if (const auto some = measured(p); some.size() == 1) others["measure"] = some.front();
  if (!p.pool) others["pool"] = "none";
  if (p.progress.kind != usual.progress.kind) others["progress-mode"] = p.progress.name();
  if (p.ranks != usual.ranks) others["ranks"] = fmt::format("{}", p.ranks);
  if (p.window != usual.window) others["window"] = fmt::format("{}", p.window);
  for (const auto& [name, value] : others) key += fmt::format("/{}={}", name, value);
  return key;
}

}  // namespace ucxbench::pingpong
