#include "workloads/merge/parameters.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "harness/core/failure.hpp"
#include "harness/core/units.hpp"

namespace ucxbench::merge {

using Json = nlohmann::ordered_json;

Json to_json(const Parameters& p) {
  auto json = ucxbench::to_json(p.common);
  json["rows"] = p.rows;
  json["frac_match"] = p.frac_match;
  json["generator"] = to_string(p.generator);
  json["skew"] = p.skew;
  json["payload_columns"] = p.payload_columns;
  json["batches"] = p.batches;
  json["bulk_synchronous"] = p.bulk_synchronous;
  json["frames"] = p.framing == Framing::frames;
  json["inject"] = to_string(p.injected);
  return json;
}

Parameters parse_parameters(const Json& json) {
  Parameters p;
  p.common = parse_workload_parameters(json);
  json.at("rows").get_to(p.rows);
  json.at("frac_match").get_to(p.frac_match);
  p.generator = parse_generator(json.at("generator").get<std::string>());
  json.at("skew").get_to(p.skew);
  json.at("payload_columns").get_to(p.payload_columns);
  json.at("batches").get_to(p.batches);
  json.at("bulk_synchronous").get_to(p.bulk_synchronous);
  p.framing = json.at("frames").get<bool>() ? Framing::frames : Framing::contiguous;
  p.injected = parse_injected(json.at("inject").get<std::string>());
  return p;
}

Parameters for_ranks(const Parameters& whole, int ranks) {
  auto p = whole;
  p.common.ranks = ranks;
  if (p.common.scaling != Scaling::strong) return p;
  p.rows /= static_cast<std::uint64_t>(ranks);
  if (p.rows != 0) return p;
  throw Failure(Exit::usage,
                fmt::format("--rows: strong scaling divides {} rows among {} ranks; at "
                            "least {} are needed",
                            whole.rows, ranks, ranks));
}

std::string case_key(const Parameters& p) {
  const auto kind = to_string(p.common.memory);
  auto key = fmt::format("merge/tag/{}-{}/{}/{}", kind, kind, fmt::join(p.common.transports, "+"),
                         exact_count(p.rows));
  auto others = unusual(p.common);
  const Parameters usual;
  if (p.batches != usual.batches) others["batches"] = fmt::format("{}", p.batches);
  if (p.bulk_synchronous) others["bulk-synchronous"] = "yes";
  if (p.frac_match != usual.frac_match) others["frac-match"] = fmt::format("{}", p.frac_match);
  if (p.framing != usual.framing) others["frames"] = "yes";
  if (p.generator != usual.generator) others["generator"] = to_string(p.generator);
  if (p.injected != usual.injected) others["inject"] = to_string(p.injected);
  if (p.payload_columns != usual.payload_columns) {
    others["payload-columns"] = fmt::format("{}", p.payload_columns);
  }
  if (p.skew != usual.skew) others["skew"] = fmt::format("{}", p.skew);
  for (const auto& [name, value] : others) key += fmt::format("/{}={}", name, value);
  return key;
}

std::uint64_t input_bytes(const Parameters& p) {
  return 2 * p.rows * p.columns() * sizeof(std::uint64_t);
}

std::uint64_t memory_bytes(const Parameters& p, int ranks) {
  const auto input = static_cast<double>(input_bytes(p));
  const auto others = 1 - 1.0 / ranks;
  const auto result = static_cast<double>(p.rows) * p.frac_match * (2 * p.columns() - 1) * 8;
  return static_cast<std::uint64_t>(input * (2 + others) + result);
}

}  // namespace ucxbench::merge
