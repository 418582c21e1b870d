#include "harness/result/older_runs.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/result/cases.hpp"
#include "harness/result/phases.hpp"
#include "harness/result/words.hpp"

namespace ucxbench {
namespace {

View view_of(const Case& of) {
  const auto has = [&](const char* parameter) { return of.parameters.contains(parameter); };
  if (of.benchmark == canary_benchmark) return {.kind = ViewKind::canary, .axes = {message_size()}};
  if (has("concurrent")) {
    return {.kind = ViewKind::matrix,
            .axes = {message_size(), {"concurrent", "at once", ShownAxis::Unit::pairs}}};
  }
  if (has("runs")) {
    View view{.kind = ViewKind::workload, .axes = {number_of_ranks()}};
    if (has("rows")) {
      view.amount = {.parameter = "rows"};
    } else if (has("size")) {
      view.amount = {.parameter = "size", .per_rank = false, .power = 2};
    }
    return view;
  }
  if (has("peers") || of.metrics.contains("first_message_us")) {
    return {.kind = ViewKind::first_messages,
            .axes = {message_size(),
                     {"peers", "peers", ShownAxis::Unit::count},
                     {"buffers", "buffers", ShownAxis::Unit::plain}},
            .at_once = Concurrent::one};
  }
  return {.kind = ViewKind::curve, .axes = {message_size()}};
}

// In the order in which they are drawn; what is not here is judged and listed.
std::vector<ShownMetric> known_metrics() {
  return {metric_named("latency_us", {.about = "one-way latency", .shown = Shown::drawn}),
          metric_named("bandwidth_GBps",
                       {.about = "bandwidth one way as received", .shown = Shown::drawn}),
          metric_named("bandwidth_sender_GBps", {.judged = false, .shown = Shown::kept}),
          metric_named("message_rate_per_s", {.judged = false, .shown = Shown::kept}),
          metric_named("wall_ms", {.title = "time", .shown = Shown::drawn}),
          metric_named("throughput_GBps", {.judged = false})};
}

}  // namespace

Shows shows_of_older(const Case& of) {
  auto view = view_of(of);
  for (auto& known : known_metrics()) {
    if (of.metrics.contains(known.name)) view.metrics.push_back(std::move(known));
  }
  for (const auto& [name, metric] : of.metrics) {
    if (std::ranges::find(view.metrics, name, &ShownMetric::name) == view.metrics.end()) {
      view.metrics.push_back(metric_named(name));
    }
  }
  for (auto& metric : view.metrics) metric.sum_of = sum_of_older(metric.name);
  return shows_of(view, of.benchmark, of.parameters);
}

SumOf sum_of_older(const std::string& metric) {
  static const std::map<std::string_view, SumOf> known = {
      {"bandwidth_bidirectional_GBps", SumOf::both_ways},
      {"together_GBps", SumOf::pairs},
      {"exchange_GBps", SumOf::ranks},
      {"dispatch_GBps", SumOf::ranks},
      {"combine_GBps", SumOf::ranks},
      {"first_round_GBps", SumOf::ranks},
      {"later_round_GBps", SumOf::ranks},
      {"descriptors_per_s", SumOf::ranks},
      {"throughput_GBps", SumOf::none}};
  const auto found = known.find(metric);
  return found == known.end() ? SumOf::one_way : found->second;
}

void add_kinds_of_older(Json& phases) {
  const auto kind_by = [](const std::string& name, bool computes) {
    if (name == "shuffle") return PhaseKind::waiting;
    if (name.ends_with(", while computing")) return PhaseKind::moving;
    if (name == "gaps") return PhaseKind::gap;
    return computes ? PhaseKind::computing : PhaseKind::exchanging;
  };
  const bool computes = std::ranges::any_of(
      phases, [](const Json& phase) { return text_at(phase, "/name") == "shuffle"; });
  for (auto& phase : phases) {
    if (!phase.is_object()) continue;
    if (!phase.contains("kind")) {
      phase["kind"] = name_of(phase_kinds, kind_by(text_at(phase, "/name"), computes));
    }
    if (kind_of(phase) != PhaseKind::moving || number_at(phase, "slowest_ms").value_or(1) > 0)
      continue;
    for (const auto* field : {"median_ms", "share", "slowest_rank", "slowest_ms"}) {
      phase[field] = nullptr;
    }
    phase.erase("by_rank_ms");
  }
}

void add_intervals_of_older(Case& of) {
  if (of.launches.empty()) return;
  const auto ranks = ranks_of(of);
  for (auto& record : of.launches) {
    const auto phases = record.workload.find("phases");
    if (phases == record.workload.end()) continue;
    for (auto& phase : *phases) {
      const auto slowest = number_at(phase, "slowest_ms");
      const auto middle = number_at(phase, "median_ms");
      if (phase.contains("by_rank_ms") || !slowest || !middle || ranks > 2) continue;
      auto& ms = phase["by_rank_ms"] = Json::array({*slowest});
      if (ranks == 1) continue;
      const auto other = std::max(0.0, 2 * *middle - *slowest);
      ms.insert(number_at(phase, "slowest_rank") == 0.0 ? ms.end() : ms.begin(), other);
    }
  }
  Case anew{.benchmark = of.benchmark, .parameters = of.parameters, .shows = of.shows};
  anew.launches = std::move(of.launches);
  summarize(anew);
  of.launches = std::move(anew.launches);
  if (!anew.phases.empty()) of.phases = std::move(anew.phases);
  const auto take = [](Json& into, const Json& from) {
    if (from.contains("intervals")) into["intervals"] = from.at("intervals");
  };
  take(of.exchange, anew.exchange);
  for (std::size_t at = 0; at < std::min(of.pairs.size(), anew.pairs.size()); ++at) {
    const auto& pair = anew.pairs[at];
    const bool same =
        pair.at("src") == of.pairs[at].at("src") && pair.at("dst") == of.pairs[at].at("dst");
    if (same) take(of.pairs[at], pair);
  }
}

void drop_limits_of_older(Result& result) {
  const auto hosts = result.machine.value("hosts", Json::array());
  const auto in_own_caches = [&](const Case& of) {
    const auto bytes = bytes_of(of);
    return bytes && std::ranges::any_of(hosts, [&](const Json& host) {
             return host.is_object() && may_stay_in_caches(host, static_cast<double>(*bytes)) &&
                    !host.at("memory_copy").contains("between_cores");
           });
  };
  for (auto& of : result.cases) {
    if (!in_own_caches(of)) continue;
    std::erase_if(of.limits.get_ref<Json::array_t&>(), [](const Json& row) {
      return text_at(row, "/source") == "calibrated" && text_at(row, "/class") == "memory";
    });
    for (auto& pair : of.pairs) {
      if (pair.contains("limit_GBps")) continue;
      pair.erase("calibrated_GBps");
      pair.erase("calibrated_share_GBps");
    }
  }
}

void add_parts_of_older(Json& entry) {
  if (entry.contains("parts")) return;
  for (const auto* part : {"computing", "communicating", "gaps", "transferring", "waiting"}) {
    const auto name = std::string(part) + "_ms";
    const bool known = std::ranges::any_of(entry.at("ways"), [&](const Json& way) {
      return number_at(way, name.c_str()).has_value();
    });
    if (known) entry["parts"].push_back(part);
  }
}

}  // namespace ucxbench
