#include "harness/run/rank_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "harness/core/failure.hpp"
#include "harness/core/text.hpp"

namespace ucxbench {
namespace {

constexpr std::string_view data_prefix = "data/";

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
  for (const auto& [name, value] : plan.at("asked").items()) {
    if (name.starts_with("UCX_") || name.starts_with("OMPI_MCA_")) continue;
    refuse_plan(fmt::format("it asks for the variable {}", in_one_line(name)));
  }
  for (const auto& planned : plan.at("cases")) {
    for (const auto& [name, value] : planned.at("parameters").items()) check_no_path(name, value);
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
