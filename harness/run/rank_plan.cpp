#include "harness/run/rank_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string_view>

#include "harness/core/failure.hpp"
#include "harness/core/field_check.hpp"
#include "harness/core/text.hpp"

namespace ucxbench {
namespace {

constexpr std::string_view data_prefix = "data/";
constexpr std::uint64_t most_turns = 1 << 20;
constexpr std::uint64_t most_duet_ms = std::uint64_t{24} * 60 * 60 * 1000;

[[noreturn]] void refuse_plan(const std::string& what) {
  throw Failure(Exit::lost, fmt::format("the plan of this launch is refused: {}", what));
}

void check_no_path(const std::string& name, const Json& value) {
  if (value.is_structured()) {
    for (const auto& part : value) check_no_path(name, part);
  } else if (value.is_string() && text_in(value).find('/') != std::string::npos) {
    refuse_plan(fmt::format("'{}' may be a path", in_one_line(name)));
  }
}

// As the first host checks its options; but as if this rank were alone here, for hosts may differ.
void check_parameters(const Benchmark& benchmark, const Json& parameters) {
  const auto& description = benchmark.parameters;
  constexpr int any_cpus = 1 << 20;
  for (const auto& field : description.fields) {
    if (!field.recorded) continue;
    const auto found = parameters.find(field.recorded_name());
    if (found == parameters.end()) continue;
    check_recorded(field, *found, field.read(description.usual.get()));
  }
  // What ranks are not told is needed for the rest.
  if (!std::ranges::all_of(description.fields, &Field::told)) return;
  const auto own = description.copy(description.usual.get());
  from_json(description.fields, parameters, own.get());
  description.check(own.get(), local(1, any_cpus));
}

void check_whole(const Json& object, const char* name, std::uint64_t most) {
  const auto& value = object.at(name);
  // As Json compares them, 2^63 is less than any signed number.
  if (value.is_number_unsigned() && value.get<std::uint64_t>() <= most) return;
  refuse_plan(in_one_line(fmt::format("'{}' is {}", name, json_text(value))));
}

void check_parts(const Json& plan) {
  for (const auto& [name, value] : plan.at("asked").items()) {
    if (name.starts_with("UCX_") || name.starts_with("OMPI_MCA_")) continue;
    refuse_plan(fmt::format("it asks for the variable {}", in_one_line(name)));
  }
  check_whole(plan, "launch", most_launches);
  check_whole(plan, "first_turn", most_turns);
  if (const auto duet = plan.find("duet"); duet != plan.end()) {
    check_whole(*duet, "number", std::numeric_limits<std::uint32_t>::max());
    check_whole(*duet, "limit_ms", most_duet_ms);
  }
  const auto* benchmark = find_benchmark(plan.at("benchmark").get<std::string>());
  for (const auto& planned : plan.at("cases")) {
    const auto& parameters = planned.at("parameters");
    for (const auto& [name, value] : parameters.items()) check_no_path(name, value);
    if (benchmark == nullptr) continue;  // which is said where it is needed
    try {
      check_parameters(*benchmark, parameters);
    } catch (const Failure& failure) {
      refuse_plan(failure.what());
    }
  }
}

}  // namespace

Json parameters_for_ranks(const std::string& benchmark, Json parameters) {
  const auto* found = find_benchmark(benchmark);
  if (found == nullptr) return parameters;
  for (const auto& field : found->parameters.fields) {
    if (!field.told) parameters.erase(field.recorded_name());
  }
  return parameters;
}

void check_rank_plan(const Json& plan) {
  try {
    check_parts(plan);
  } catch (const Json::exception&) {
    refuse_plan("a part of it is missing or of another type");
  }
}

std::string data_key(std::size_t case_index, int rank, std::size_t part) {
  return fmt::format("{}{}/{}/{}", data_prefix, case_index, rank, part);
}

std::optional<Rendezvous::Bytes> data_of(const Result& result, const LaunchPlan& plan,
                                         const std::string& key) {
  const auto* benchmark = find_benchmark(plan.benchmark);
  if (!key.starts_with(data_prefix) || benchmark == nullptr || benchmark->data == nullptr) {
    return std::nullopt;
  }
  const auto words = split_text(std::string_view(key).substr(data_prefix.size()), '/');
  if (words.size() != 3) return std::nullopt;
  const auto index = number_in<std::size_t>(words[0]);
  const auto rank = number_in<int>(words[1]);
  const auto part = number_in<std::size_t>(words[2]);
  if (!index || std::ranges::find(plan.cases, *index) == plan.cases.end() || !part || !rank ||
      *rank < 0 || *rank >= plan.ranks) {
    return std::nullopt;
  }
  return benchmark->data(result.cases.at(*index).parameters, *rank, *part);
}

}  // namespace ucxbench
