#include "harness/result/cases.hpp"

#include <algorithm>
#include <map>

#include "harness/core/units.hpp"
#include "harness/result/words.hpp"

namespace ucxbench {
namespace {

std::string title_of(const Case& of) {
  std::string title = of.benchmark;
  const auto api = text_at(of.parameters, "/api", "");
  if (!api.empty()) title += " " + api;
  if (of.parameters.contains("memory")) {
    title += ", " + join(texts_of(of.parameters.at("memory")), " to ");
  }
  return title + ", over " + text_at(of.parameters, "/transports");
}

// What all cases of one table have in common.
Json without_rows(const Case& of) {
  auto parameters = of.parameters;
  if (!parameters.is_object()) return {of.benchmark, parameters};
  for (const auto* row : {"bytes", "peers", "buffers", "concurrent"}) parameters.erase(row);
  if (is_workload(of)) {
    parameters.erase("ranks");
    if (const auto amount = scaled_amount(of); !amount.empty()) parameters.erase(amount);
  }
  return {of.benchmark, parameters};
}

}  // namespace

void add_label(std::vector<std::string>& labels, const std::string& label) {
  if (std::ranges::find(labels, label) == labels.end()) labels.push_back(label);
}

bool is_matrix(const Case& of) { return of.parameters.contains("concurrent"); }

std::string ranks_in_words(const Case& of) {
  return counted(static_cast<std::size_t>(std::clamp(ranks_of(of), 1.0, 1e6)), "rank");
}

std::string scaled_amount(const Case& of) {
  if (text_at(of.parameters, "/scaling", "").empty()) return "";
  for (const auto* amount : {"rows", "size"}) {
    if (of.parameters.contains(amount)) return amount;
  }
  return "";
}

bool is_workload(const Case& of) { return of.parameters.contains("runs"); }

bool of_memory(const Case& of, const char* memory) {
  return of.parameters.is_object() &&
         of.parameters.value("memory", Json()) == Json::array({memory, memory});
}

double ranks_of(const Case& of) { return number_at(of.parameters, "ranks").value_or(1); }

std::vector<Block> blocks_of(const Result& result) {
  std::vector<Block> blocks;
  std::map<std::string, std::size_t> places;
  for (const auto& of : result.cases) {
    if (of.benchmark == canary_benchmark) continue;
    const auto [place, added] = places.try_emplace(without_rows(of).dump(), blocks.size());
    if (added) blocks.push_back({.title = title_of(of), .cases = {}, .measured = {}});
    auto& block = blocks[place->second];
    block.cases.push_back(&of);
    if (!of.metrics.empty()) block.measured.push_back(&of);
  }
  return blocks;
}

std::optional<std::uint64_t> bytes_of(const Case& of) {
  const auto found = of.parameters.find("bytes");
  if (found == of.parameters.end() || !found->is_number_integer() || *found < 1) {
    return std::nullopt;
  }
  return found->get<std::uint64_t>();
}

std::string size_of(const Case& of) {
  const auto bytes = bytes_of(of);
  if (bytes) return spaced_size(*bytes);
  return is_workload(of) ? ranks_in_words(of) : "-";
}

std::optional<double> timed_over_untimed(const LaunchRecord& record) {
  const auto timed = record.overheads.find("timed_mean_us");
  const auto untimed = record.overheads.find("untimed_mean_us");
  if (timed == record.overheads.end() || untimed == record.overheads.end()) return std::nullopt;
  if (untimed->second <= 0) return std::nullopt;
  return timed->second / untimed->second;
}

}  // namespace ucxbench
