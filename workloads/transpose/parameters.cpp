#include "workloads/transpose/parameters.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "harness/core/failure.hpp"
#include "harness/core/names.hpp"
#include "harness/core/units.hpp"
#include "workloads/transpose/generator.hpp"

namespace ucxbench::transpose {
namespace {

// What is kept of each tile for the checks is then at most 48 MiB.
constexpr std::uint64_t most_chunks = 1024;

constexpr Names<Outcome, 2> outcomes = {{{Outcome::keep, "keep"}, {Outcome::sum, "sum"}}};

// The largest array with these chunks for which `fits`; 0: none.
template <typename Fits>
std::uint64_t largest(Fits fits) {
  std::uint64_t good = 0;
  for (auto step = most_rows; step > 0; step /= 2) {
    if (good + step <= most_rows && fits(good + step)) good += step;
  }
  return good;
}

}  // namespace

using Json = nlohmann::ordered_json;

Outcome parse_outcome(std::string_view name) {
  return parse_name(outcomes, name, "--result: ", "result");
}

Json to_json(const Parameters& p) {
  auto json = ucxbench::to_json(p.common);
  json["size"] = p.size;
  json["chunk_size"] = p.chunk_size;
  json["result"] = name_of(outcomes, p.outcome);
  json["bulk_synchronous"] = p.bulk_synchronous;
  json["inject"] = to_string(p.injected);
  return json;
}

Parameters parse_parameters(const Json& json) {
  Parameters p;
  p.common = parse_workload_parameters(json);
  json.at("size").get_to(p.size);
  json.at("chunk_size").get_to(p.chunk_size);
  p.outcome = parse_outcome(json.at("result").get<std::string>());
  json.at("bulk_synchronous").get_to(p.bulk_synchronous);
  p.injected = parse_injected(json.at("inject").get<std::string>());
  return p;
}

Parameters for_ranks(const Parameters& one, int ranks) {
  auto p = one;
  p.common.ranks = ranks;
  if (p.common.scaling == Scaling::weak) {
    p.size =
        static_cast<std::uint64_t>(std::llround(static_cast<double>(one.size) * std::sqrt(ranks)));
  }
  return p;
}

std::string case_key(const Parameters& p) {
  const auto kind = to_string(p.common.memory);
  auto key = fmt::format("transpose/tag/{}-{}/{}/{}", kind, kind,
                         fmt::join(p.common.transports, "+"), exact_count(p.size));
  auto others = unusual(p.common);
  const Parameters usual;
  if (p.bulk_synchronous) others["bulk-synchronous"] = "yes";
  if (p.chunk_size != usual.chunk_size) others["chunk-size"] = exact_count(p.chunk_size);
  if (p.injected != usual.injected) others["inject"] = to_string(p.injected);
  if (p.outcome != usual.outcome) others["result"] = name_of(outcomes, p.outcome);
  for (const auto& [name, value] : others) key += fmt::format("/{}={}", name, value);
  return key;
}

std::uint64_t input_bytes(const Parameters& p) { return p.size * p.size * sizeof(double); }

void check(const Parameters& p, std::uint64_t available_bytes) {
  if (p.chunk_size > p.size) {
    throw Failure(Exit::usage, fmt::format("--chunk-size: {} is more than the array's size, {}",
                                           p.chunk_size, p.size));
  }
  const auto least_chunk = (std::min(p.size, most_rows) + most_chunks - 1) / most_chunks;
  if (p.chunk_size < least_chunk) {
    throw Failure(Exit::usage,
                  fmt::format("--chunk-size: {} cuts {} rows into more than {} chunks; at least {}",
                              p.chunk_size, p.size, most_chunks, least_chunk));
  }
  const auto fits = [&](std::uint64_t size) {
    auto layout = p.layout();
    layout.size = size;
    layout.chunk = std::min(size, p.chunk_size);
    return bytes_needed(layout, p.keep(), p.bulk_synchronous) <= available_bytes;
  };
  if (p.size <= most_rows && fits(p.size)) return;
  throw Failure(Exit::usage, fmt::format("--size: an array of {} rows is more than the available "
                                         "memory; at most {} with these chunks",
                                         p.size, largest(fits)));
}

}  // namespace ucxbench::transpose
