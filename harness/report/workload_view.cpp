#include "harness/report/workload_view.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "harness/core/units.hpp"
#include "harness/report/interval_text.hpp"
#include "harness/result/cases.hpp"
#include "harness/result/labels.hpp"
#include "harness/result/phases.hpp"
#include "harness/result/transports.hpp"

namespace ucxbench {
namespace {

constexpr std::size_t most_flows = 12;  ///< rows; the rest is in the run file

std::string text_of(const Json& object, const char* name, int digits = 4) {
  return significant(number_at(object, name), digits);
}

std::string percent_or_none(const std::optional<double>& part) {
  return part ? share_text(*part) : "-";
}

// Over all runs of all launches, as dask-cuda's benchmarks summarize their throughput; empty where
// a launch had more runs than are kept, since one slow run makes most of it.
std::optional<double> harmonic_mean(const Case& of, const char* metric) {
  double inverses = 0;
  std::size_t count = 0;
  for (const auto& record : of.launches) {
    const auto samples = record.samples.find(metric);
    if (samples == record.samples.end()) continue;
    if (samples->second.values.size() != samples->second.seen) return std::nullopt;
    for (const auto value : samples->second.values) inverses += 1 / value;
    count += samples->second.values.size();
  }
  return count == 0 ? std::nullopt : std::optional(static_cast<double>(count) / inverses);
}

// The case that a case's efficiency is against: of the same block, asked for as much, and at the
// same place on all other axes but the ranks, the first one.
const Case& fewest_ranks(const Case& of, const Block& block) {
  const auto same = [&](const AxisValue& axis) {
    const auto* other = axis_of(of, axis.name);
    return axis.name == number_of_ranks().parameter ||
           (of.shows.scaling && axis.name == of.shows.scaling->amount) ||
           (other != nullptr && other->value == axis.value);
  };
  const auto found = std::ranges::find_if(block.measured, [&](const Case* other) {
    const auto& asked = other->shows.scaling;
    return asked.has_value() == of.shows.scaling.has_value() &&
           (!asked || asked->asked == of.shows.scaling->asked) &&
           std::ranges::all_of(other->shows.axes, same);
  });
  return found == block.measured.end() ? of : **found;
}

// Bytes of input per second and rank against the smallest number of ranks measured: 1 if every
// further rank adds as much as the first ones did, in weak and in strong scaling.
std::string efficiency_in_words(const Case& of, const Case& smallest) {
  const auto rate = p50_of(of, "throughput_GBps");
  const auto first = p50_of(smallest, "throughput_GBps");
  if (!rate || !first || *first <= 0) return no_cell;
  const auto fewer = ranks_of(smallest) / ranks_of(of);
  auto words = share_text(*rate / *first * fewer);
  const auto times =
      quotient(interval_of(of, "throughput_GBps"), interval_of(smallest, "throughput_GBps"));
  if (&of == &smallest || !times) return words;
  return words + percent_behind(scaled(times, fewer));
}

// Over these the ranks' own CPUs copy every byte.
bool cpu_moves_the_bytes(const Case& of) {
  const auto found = of.parameters.find("transports");
  const auto members = found == of.parameters.end() ? std::vector<std::string>() : texts_of(*found);
  return std::all_of(members.begin(), members.end(), [](const std::string& member) {
    const auto fabric = fabric_of(member);
    return fabric != Fabric::gpu_links && fabric != Fabric::rdma && fabric != Fabric::any;
  });
}

// How long a run must take at least, by its own computing and by what the exchange took alone: one
// after the other where the CPUs do both, else the longer of the two.
std::string bound_of(const Case& of) {
  if (is_time_sliced(of)) return "";
  double computing_ms = 0;
  std::optional<Interval> computing(Interval{0, 0, Interval::Kind::ci95});
  for (const auto& phase : of.phases) {
    if (kind_of(phase) != PhaseKind::computing) continue;
    computing_ms += number_at(phase, "median_ms").value_or(0);
    computing = sum(computing, interval_at(phase, "median_ms"));
  }
  const auto wall_ms = p50_of(of, "wall_ms");
  const auto bytes = number_at(of.exchange, "bytes");
  const auto alone_GBps = number_at(of.exchange, "alone_GBps");
  if (!wall_ms || !bytes || !alone_GBps || *alone_GBps <= 0 || computing_ms <= 0) return "";
  const auto alone_ms = *bytes / *alone_GBps * 1e-6;
  const auto alone = inverse(scaled(interval_at(of.exchange, "alone_GBps"), 1 / (*bytes * 1e-6)));
  const bool in_turn = cpu_moves_the_bytes(of);
  const auto bound_ms = in_turn ? computing_ms + alone_ms : std::max(computing_ms, alone_ms);
  const auto bound = in_turn ? sum(computing, alone) : larger(computing, alone);
  // What was measured beside the run may have met a busier moment: up to a twentieth is its noise.
  if (*wall_ms < 0.95 * bound_ms) {
    return fmt::format(
        "none: {}{} ms computing and {}{} ms exchange alone are more than the run of {}{} ms: "
        "something disturbed them",
        significant(computing_ms, 3), interval_behind(computing), significant(alone_ms, 3),
        interval_behind(alone), significant(*wall_ms, 3),
        interval_behind(interval_of(of, "wall_ms")));
  }
  const auto took = *wall_ms < bound_ms
                        ? "no longer"
                        : fmt::format("{:.2f}{} x that", *wall_ms / bound_ms,
                                      interval_behind(quotient(interval_of(of, "wall_ms"), bound)));
  return fmt::format("{}{} ms computing, {}{} ms exchange alone: {} {}{} ms; the run took {}",
                     significant(computing_ms, 3), interval_behind(computing),
                     significant(alone_ms, 3), interval_behind(alone),
                     in_turn ? "together" : "the longer is", significant(bound_ms, 3),
                     interval_behind(bound), took);
}

// What copies in host memory, or links that p2p measured, let the exchange reach.
std::string calibrated_of(const Case& of) {
  const auto limit = number_at(of.exchange, "calibrated_GBps");
  const auto alone = number_at(of.exchange, "alone_GBps");
  if (!limit || *limit <= 0) return "";
  auto text = fmt::format("peak of the exchange {} GB/s ({})", significant(limit, 3),
                          on_one_line(text_at(of.exchange, "/calibrated_by", "?")));
  if (alone) {
    const auto share = scaled(interval_at(of.exchange, "alone_GBps"), 1 / *limit);
    const auto surely = share ? share->low : *alone / *limit;
    text += fmt::format("; alone it reached {}{}{}", share_text(*alone / *limit),
                        percent_behind(share), surely > 1 ? " (above)" : "");
  }
  return text;
}

}  // namespace

bool has_efficiency(const Block& block) {
  return std::ranges::any_of(block.measured, [&](const Case* of) {
    return ranks_of(fewest_ranks(*of, block)) < ranks_of(*of);
  });
}

Grid workload_metrics_of(const Block& block) {
  Grid grid;
  add_axes(grid, block);
  for (const auto* of : block.measured) grid.rows.push_back(axis_cells(*of));
  const auto add = [&](const char* group, const char* name, auto text) {
    grid.columns.push_back({group, name});
    for (std::size_t row = 0; row < grid.rows.size(); ++row) {
      grid.rows[row].push_back(text(*block.measured[row]));
    }
  };
  const auto add_own_intervals = [&](const char* group, auto interval) {
    std::vector<std::optional<Interval>> column;
    for (const auto* of : block.measured) column.push_back(interval(*of));
    add_intervals(grid, group, column);
  };
  const auto add_median = [&](const char* group, const char* name, const char* metric) {
    add(group, name, [&](const Case& of) { return significant(p50_of(of, metric), 4); });
    add_own_intervals(group, [&](const Case& of) { return interval_of(of, metric); });
  };
  const char* time = "time, ms";
  const char* throughput = "throughput, GB/s";
  const char* exchange = "exchange, GB/s";
  add_median(time, "p50", "wall_ms");
  add(time, "max", [](const Case& of) {
    const auto found = of.metrics.find("wall_ms");
    return found == of.metrics.end() ? "-" : significant(found->second.quantiles.max, 4);
  });
  add_median(throughput, "p50", "throughput_GBps");
  add(throughput, "harm. mean",
      [](const Case& of) { return significant(harmonic_mean(of, "throughput_GBps"), 4); });
  add_median(exchange, "here", "exchange_GBps");
  add(exchange, "alone", [](const Case& of) { return text_of(of.exchange, "alone_GBps"); });
  add_own_intervals(exchange,
                    [](const Case& of) { return interval_at(of.exchange, "alone_GBps"); });
  if (has_efficiency(block)) {
    add("", "efficiency",
        [&](const Case& of) { return efficiency_in_words(of, fewest_ranks(of, block)); });
  }
  return grid;
}

Grid phases_of(const Case& of) {
  Grid grid{.columns = {{"", "phase"}}, .rows = {}};
  for (const auto& phase : of.phases) grid.rows.push_back({text_at(phase, "/name")});
  const auto add = [&](const char* group, const char* name, auto text) {
    grid.columns.push_back({group, name});
    for (std::size_t row = 0; row < grid.rows.size(); ++row) {
      grid.rows[row].push_back(text(of.phases[row]));
    }
  };
  const auto add_median = [&](const char* group, const char* name, const char* field) {
    add(group, name, [&](const Json& phase) { return text_of(phase, field, 3); });
    std::vector<std::optional<Interval>> column;
    for (const auto& phase : of.phases) column.push_back(interval_at(phase, field));
    add_intervals(grid, group, column, 3);
  };
  add_median("all ranks", "median, ms", "median_ms");
  add("all ranks", "share of mean",
      [](const Json& phase) { return percent_or_none(number_at(phase, "share")); });
  add("slowest", "rank", [](const Json& phase) { return text_at(phase, "/slowest_rank"); });
  add_median("slowest", "ms", "slowest_ms");
  const bool apart = std::ranges::any_of(
      of.phases, [](const Json& phase) { return phase.contains("ingress_imbalance"); });
  if (!apart) return grid;
  const auto metric = [](const Json& phase) { return text_at(phase, "/name") + "_GBps"; };
  add("received", "GB/s",
      [&](const Json& phase) { return significant(p50_of(of, metric(phase).c_str()), 4); });
  std::vector<std::optional<Interval>> rates;
  for (const auto& phase : of.phases) rates.push_back(interval_of(of, metric(phase)));
  add_intervals(grid, "received", rates);
  add("received", "most/mean",
      [](const Json& phase) { return text_of(phase, "ingress_imbalance", 3); });
  return grid;
}

Grid flows_of(const Case& of) {
  // With what they are sorted by: there may be a million, and looking a field up takes long.
  std::vector<std::pair<double, const Json*>> pairs;
  bool all_have_rates = true;
  for (const auto& pair : of.pairs) {
    const auto goodput = number_at(pair, "goodput_GBps");
    if (!goodput && number_at(pair, "messages") == 0.0) continue;  // nothing was sent
    all_have_rates &= goodput.has_value();
    pairs.emplace_back(goodput.value_or(0), &pair);
  }
  if (!all_have_rates) {
    for (auto& [key, pair] : pairs) key = -number_at(*pair, "delivery_p50_us").value_or(0);
  }
  std::ranges::stable_sort(pairs, {}, &std::pair<double, const Json*>::first);
  if (pairs.size() > most_flows) pairs.resize(most_flows);
  Grid grid{.columns = {{"", "from->to"}, {"all runs", "MB"}, {"all runs", "messages"}},
            .rows = {}};
  for (const auto& [key, pair] : pairs) {
    const auto bytes = number_at(*pair, "bytes");
    grid.rows.push_back({fmt::format("{}->{}", text_at(*pair, "/src"), text_at(*pair, "/dst")),
                         significant(bytes ? std::optional(*bytes * 1e-6) : bytes, 4),
                         text_at(*pair, "/messages")});
  }
  const auto known = [&](const char* field) {
    return std::ranges::any_of(
        of.pairs, [&](const Json& pair) { return number_at(pair, field).has_value(); });
  };
  const auto add = [&](const std::string& group, const char* name, const char* field, bool median) {
    grid.columns.push_back({group, name});
    std::vector<std::optional<Interval>> intervals;
    for (std::size_t row = 0; row < grid.rows.size(); ++row) {
      grid.rows[row].push_back(text_of(*pairs[row].second, field, 3));
      intervals.push_back(interval_at(*pairs[row].second, field));
    }
    if (median) add_intervals(grid, group, intervals, 3);
  };
  if (known("p50_GBps")) {
    const auto large = "GB/s, messages >= " +
                       spaced_size(static_cast<std::uint64_t>(std::clamp(
                           number_at(of.parameters, "ignore_bytes").value_or(1), 1.0, 1e18)));
    add(large, "p25", "p25_GBps", false);
    add(large, "p50", "p50_GBps", true);
    add(large, "p75", "p75_GBps", false);
  }
  add("goodput, GB/s", "median", "goodput_GBps", true);
  if (known("delivery_p50_us")) add("sent to received, us", "median", "delivery_p50_us", true);
  if (known("waiting_ms")) add("waiting, ms", "median", "waiting_ms", true);
  return grid;
}

std::vector<std::pair<std::string, std::string>> exchange_of(const Case& of) {
  std::vector<std::pair<std::string, std::string>> lines;
  const auto bytes = number_at(of.exchange, "bytes");
  if (bytes && *bytes > 0) {
    auto text =
        fmt::format("{} MB between ranks per run, busiest rank {} x the mean",
                    significant(*bytes * 1e-6, 4), text_of(of.exchange, "egress_imbalance", 3));
    const auto busy = number_at(of.exchange, "busy_ms");
    if (busy) {
      text += fmt::format(
          "; means of the runs: {}{} ms communicating, {}{} ms waiting: {}{} overlapped",
          significant(busy, 3), interval_behind(interval_at(of.exchange, "busy_ms")),
          text_of(of.exchange, "exposed_ms", 3),
          interval_behind(interval_at(of.exchange, "exposed_ms")),
          percent_or_none(number_at(of.exchange, "overlap")),
          percent_behind(interval_at(of.exchange, "overlap")));
    }
    if (const auto not_ready = number_at(of.exchange, "not_ready_ms")) {
      text += fmt::format("; {}{} ms for ranks that were not ready, which is no communication",
                          significant(not_ready, 3),
                          interval_behind(interval_at(of.exchange, "not_ready_ms")));
    }
    if (cpu_moves_the_bytes(of)) {
      text += " (the CPUs copy: overlap gains nothing)";
    }
    lines.emplace_back("exchange", text);
  }
  const auto recorded_ms = number_at(of.parameters, "recorded_ms");
  const auto wall_ms = p50_of(of, "wall_ms");
  if (recorded_ms && wall_ms && *recorded_ms > 0) {
    lines.emplace_back(
        "recorded",
        fmt::format("{} ms; this run took {}{} x that", significant(recorded_ms, 4),
                    significant(*wall_ms / *recorded_ms, 3),
                    interval_behind(scaled(interval_of(of, "wall_ms"), 1 / *recorded_ms))));
  }
  if (const auto bound = bound_of(of); !bound.empty()) lines.emplace_back("lower bound", bound);
  if (auto known = calibrated_of(of); !known.empty()) {
    lines.emplace_back("calibrated", std::move(known));
  }
  const auto input = number_at(of.exchange, "input_bytes");
  const auto ranks = ranks_of(of);
  if (input && *input > 0 && of.peak_buffer_bytes > 0) {
    lines.emplace_back("memory",
                       fmt::format("at most {:.1f} x the input of a rank",
                                   static_cast<double>(of.peak_buffer_bytes) / (*input / ranks)));
  }
  return lines;
}

}  // namespace ucxbench
