#include "harness/result/older_runs.hpp"

#include <map>

namespace ucxbench {
namespace {

View view_of(const Case& of) {
  const auto has = [&](const char* parameter) { return of.parameters.contains(parameter); };
  if (of.benchmark == canary_benchmark) return {.kind = ViewKind::canary, .axes = {message_size()}};
  if (has("concurrent")) {
    return {.kind = ViewKind::matrix,
            .axes = {message_size(), {"concurrent", "at once", Axis::Unit::pairs}}};
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
                     {"peers", "peers", Axis::Unit::count},
                     {"buffers", "buffers", Axis::Unit::plain}},
            .at_once = AtOnce::one};
  }
  return {.kind = ViewKind::curve, .axes = {message_size()}};
}

MetricNotes notes_of(const std::string& metric) {
  const std::map<std::string, MetricNotes> known = {
      {"latency_us", {.about = "one-way latency", .shown = Shown::drawn}},
      {"bandwidth_GBps", {.about = "bandwidth one way as received", .shown = Shown::drawn}},
      {"bandwidth_sender_GBps", {.judged = false, .shown = Shown::kept}},
      {"message_rate_per_s", {.judged = false, .shown = Shown::kept}},
      {"wall_ms", {.title = "time", .shown = Shown::drawn}},
      {"throughput_GBps", {.judged = false}}};
  const auto found = known.find(metric);
  return found == known.end() ? MetricNotes() : found->second;
}

}  // namespace

Shows shows_of_older(const Case& of) {
  auto view = view_of(of);
  for (const auto& [name, metric] : of.metrics) {
    view.metrics.push_back(metric_named(name, notes_of(name)));
  }
  return shows_of(view, of.benchmark, of.parameters);
}

}  // namespace ucxbench
