#include "harness/result/older_runs.hpp"

#include <algorithm>
#include <utility>
#include <vector>

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
            .at_once = AtOnce::one};
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
  return shows_of(view, of.benchmark, of.parameters);
}

}  // namespace ucxbench
