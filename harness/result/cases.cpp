#include "harness/result/cases.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "harness/result/older_runs.hpp"
#include "harness/result/words.hpp"

namespace ucxbench {
namespace {

std::optional<std::size_t> rank_number(const Json& rank) {
  const auto number = number_at(rank, "rank");
  if (!number || *number < 0 || !(*number < 1e6)) return std::nullopt;
  return static_cast<std::size_t>(*number);
}

}  // namespace

void add_once(std::vector<std::string>& texts, const std::string& text) {
  if (std::ranges::find(texts, text) == texts.end()) texts.push_back(text);
}

bool is_workload(const Case& of) { return of.shows.kind == ViewKind::workload; }

bool is_matrix(const Case& of) { return of.shows.kind == ViewKind::matrix; }

bool is_canary(const Case& of) { return of.shows.kind == ViewKind::canary; }

bool by_ucx(const Case& of) { return text_at(of.parameters, "/comm", "ucx") == "ucx"; }

std::string ranks_in_words(const Case& of) {
  return counted(static_cast<std::size_t>(of.shows.ranks), "rank");
}

ShownMetric shown_metric(const Case& of, const std::string& name) {
  const auto found = std::ranges::find(of.shows.metrics, name, &ShownMetric::name);
  if (found != of.shows.metrics.end()) return *found;
  return metric_named(name, {.sum_of = sum_of_older(name)});
}

bool of_memory(const Case& of, const char* memory) {
  return of.parameters.is_object() &&
         of.parameters.value("memory", Json()) == Json::array({memory, memory});
}

std::string place_of_memory(const std::string& kind) { return kind.substr(0, kind.find(':')); }

bool at_place(const Case& of, const char* place) {
  if (!of.parameters.is_object()) return false;
  const auto kinds = texts_of(of.parameters.value("memory", Json()));
  return !kinds.empty() && std::ranges::all_of(kinds, [&](const auto& kind) {
    return place_of_memory(kind) == place;
  });
}

double ranks_of(const Case& of) { return static_cast<double>(of.shows.ranks); }

std::optional<double> p50_of(const Case& of, const char* metric) {
  const auto found = of.metrics.find(metric);
  return found == of.metrics.end() ? std::nullopt : found->second.quantiles.p50;
}

std::vector<Block> blocks_of(const Result& result) {
  std::vector<Block> blocks;
  std::map<std::string, std::size_t> places;
  for (const auto& of : result.cases) {
    if (is_canary(of)) continue;
    const auto [place, added] = places.try_emplace(of.shows.block, blocks.size());
    if (added) blocks.push_back({.title = of.shows.title, .cases = {}, .measured = {}});
    auto& block = blocks[place->second];
    block.cases.push_back(&of);
    if (!of.metrics.empty()) block.measured.push_back(&of);
  }
  return blocks;
}

const AxisValue* axis_of(const Case& of, const std::string& name) {
  const auto found = std::ranges::find(of.shows.axes, name, &AxisValue::name);
  return found == of.shows.axes.end() ? nullptr : &*found;
}

std::optional<std::uint64_t> bytes_of(const Case& of) {
  const auto found = std::ranges::find(of.shows.axes, "B", &AxisValue::unit);
  if (found == of.shows.axes.end() || !found->value.is_number_integer() || found->value < 1) {
    return std::nullopt;
  }
  return found->value.get<std::uint64_t>();
}

std::string size_of(const Case& of) {
  return of.shows.axes.empty() ? "-" : of.shows.axes.front().text;
}

std::string row_of(const Case& of) {
  std::vector<std::string> texts;
  for (const auto& axis : of.shows.axes) {
    if (!axis.follows) texts.push_back(axis.text);
  }
  return join(texts, ", ");
}

bool may_stay_in_caches(const Json& host, double message_bytes) {
  const Json::json_pointer sizes("/memory_copy/one_core/by_size");
  if (!host.contains(sizes) || !host.at(sizes).is_array()) return false;
  return std::ranges::any_of(host.at(sizes), [&](const Json& size) {
    return size.is_object() && number_at(size, "bytes").value_or(0) > message_bytes / 2;
  });
}

std::vector<Json> ranks_of_case(const Result& result, const Case& of) {
  if (of.hosts.empty()) return {result.ranks.begin(), result.ranks.end()};
  std::map<std::pair<std::size_t, std::string>, const Json*> known;
  for (const auto& rank : result.ranks) {
    if (const auto number = rank_number(rank)) {
      known.emplace(std::pair(*number, text_at(rank, "/host", "")), &rank);
    }
  }
  std::vector<Json> ranks;
  for (std::size_t at = 0; at < of.hosts.size(); ++at) {
    const auto found = known.find({at, of.hosts[at]});
    ranks.push_back(found != known.end() ? *found->second
                                         : Json{{"rank", at}, {"host", of.hosts[at]}});
  }
  return ranks;
}

std::map<int, std::string> hosts_of_ranks(const Result& result, const Case& of) {
  auto hosts = hosts_of_ranks(result);
  if (!of.hosts.empty()) hosts.clear();
  for (std::size_t at = 0; at < of.hosts.size(); ++at) {
    if (!of.hosts[at].empty()) hosts.emplace(static_cast<int>(at), of.hosts[at]);
  }
  return hosts;
}

std::map<int, std::string> hosts_of_ranks(const Result& result) {
  std::map<int, std::string> hosts;
  for (const auto& rank : result.ranks) {
    const auto number = rank_number(rank);
    const auto host = text_at(rank, "/host", "");
    if (number && !host.empty()) hosts.emplace(static_cast<int>(*number), host);
  }
  return hosts;
}

std::optional<double> timed_over_untimed(const LaunchRecord& record) {
  const auto timed = record.overheads.find("timed_mean_us");
  const auto untimed = record.overheads.find("untimed_mean_us");
  if (timed == record.overheads.end() || untimed == record.overheads.end()) return std::nullopt;
  if (untimed->second <= 0) return std::nullopt;
  return timed->second / untimed->second;
}

}  // namespace ucxbench
