#include "harness/report/workload_view.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "harness/core/units.hpp"
#include "harness/result/cases.hpp"
#include "harness/result/labels.hpp"
#include "harness/result/phases.hpp"

namespace ucxbench {
namespace {

constexpr std::size_t most_flows = 12;  ///< rows; the rest is in the run file

std::string text_of(const Json& object, const char* name, int digits = 4) {
  return significant(number_at(object, name), digits);
}

std::string percent_or_none(const std::optional<double>& part) {
  return part ? share_text(*part) : "-";
}

// Over all runs of all launches, as dask-cuda's benchmarks summarize their throughput.
std::optional<double> harmonic_mean(const Case& of, const char* metric) {
  double inverses = 0;
  std::size_t count = 0;
  for (const auto& record : of.launches) {
    const auto samples = record.samples.find(metric);
    if (samples == record.samples.end()) continue;
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
std::optional<double> efficiency(const Case& of, const Case& smallest) {
  const auto rate = p50_of(of, "throughput_GBps");
  const auto first = p50_of(smallest, "throughput_GBps");
  if (!rate || !first || *first <= 0) return std::nullopt;
  return *rate / ranks_of(of) / (*first / ranks_of(smallest));
}

// Over these the ranks' own CPUs copy every byte.
bool cpu_moves_the_bytes(const Case& of) {
  const auto found = of.parameters.find("transports");
  const auto members = found == of.parameters.end() ? std::vector<std::string>() : texts_of(*found);
  return std::all_of(members.begin(), members.end(), [](const std::string& member) {
    return member == "tcp" || member == "shm" || member == "self";
  });
}

// How long a run must take at least, by its own computing and by what the exchange took alone: one
// after the other where the CPUs do both, else the longer of the two.
std::string bound_of(const Case& of) {
  if (is_time_sliced(of)) return "";
  double computing_ms = 0;
  for (const auto& phase : of.phases) {
    if (kind_of(phase) != PhaseKind::computing) continue;
    computing_ms += number_at(phase, "median_ms").value_or(0);
  }
  const auto wall_ms = p50_of(of, "wall_ms");
  const auto bytes = number_at(of.exchange, "bytes");
  const auto alone_GBps = number_at(of.exchange, "alone_GBps");
  if (!wall_ms || !bytes || !alone_GBps || *alone_GBps <= 0 || computing_ms <= 0) return "";
  const auto alone_ms = *bytes / *alone_GBps * 1e-6;
  const bool in_turn = cpu_moves_the_bytes(of);
  const auto bound_ms = in_turn ? computing_ms + alone_ms : std::max(computing_ms, alone_ms);
  // What was measured beside the run may have met a busier moment: up to a twentieth is its noise.
  if (*wall_ms < 0.95 * bound_ms) {
    return fmt::format(
        "none: {} ms computing and {} ms exchange alone are more than the run of {} ms: something "
        "disturbed them",
        significant(computing_ms, 3), significant(alone_ms, 3), significant(*wall_ms, 3));
  }
  const auto took =
      *wall_ms < bound_ms ? "no longer" : fmt::format("{:.2f} x that", *wall_ms / bound_ms);
  return fmt::format("{} ms computing, {} ms exchange alone: {} {} ms; the run took {}",
                     significant(computing_ms, 3), significant(alone_ms, 3),
                     in_turn ? "together" : "the longer is", significant(bound_ms, 3), took);
}

// What copies in host memory, or links that p2p measured, let the exchange reach.
std::string calibrated_of(const Case& of) {
  const auto limit = number_at(of.exchange, "calibrated_GBps");
  const auto alone = number_at(of.exchange, "alone_GBps");
  if (!limit || *limit <= 0) return "";
  auto text = fmt::format("peak of the exchange {} GB/s ({})", significant(limit, 3),
                          on_one_line(text_at(of.exchange, "/calibrated_by", "?")));
  if (alone) {
    text += fmt::format("; alone it reached {}{}", share_text(*alone / *limit),
                        *alone > *limit ? " (above)" : "");
  }
  return text;
}

}  // namespace

Grid workload_metrics_of(const Block& block) {
  Grid grid{.columns = {{"time, ms", "p50"},
                        {"time, ms", "95% CI"},
                        {"time, ms", "max"},
                        {"throughput, GB/s", "p50"},
                        {"throughput, GB/s", "harm. mean"},
                        {"exchange, GB/s", "here"},
                        {"exchange, GB/s", "alone"}},
            .rows = {}};
  add_axes(grid, block);
  const bool scaling = block.measured.size() > 1;
  if (scaling) grid.columns.push_back({"", "efficiency"});
  for (const auto* of : block.measured) {
    const auto found = of->metrics.find("wall_ms");
    const auto wall = found == of->metrics.end() ? Metric() : found->second;
    auto row = axis_cells(*of);
    for (auto& cell : std::vector<std::string>{
             significant(wall.quantiles.p50, 4),
             wall.ci95 ? significant((*wall.ci95)[0], 4) + ".." + significant((*wall.ci95)[1], 4)
                       : "-",
             significant(wall.quantiles.max, 4), significant(p50_of(*of, "throughput_GBps"), 4),
             significant(harmonic_mean(*of, "throughput_GBps"), 4),
             significant(p50_of(*of, "exchange_GBps"), 4), text_of(of->exchange, "alone_GBps")}) {
      row.push_back(std::move(cell));
    }
    if (scaling) row.push_back(percent_or_none(efficiency(*of, fewest_ranks(*of, block))));
    grid.rows.push_back(std::move(row));
  }
  return grid;
}

Grid phases_of(const Case& of) {
  Grid grid{.columns = {{"", "phase"},
                        {"", "median, ms"},
                        {"", "share of mean"},
                        {"slowest", "rank"},
                        {"slowest", "ms"}},
            .rows = {}};
  const bool apart = std::ranges::any_of(
      of.phases, [](const Json& phase) { return phase.contains("ingress_imbalance"); });
  if (apart) {
    grid.columns.push_back({"received", "GB/s"});
    grid.columns.push_back({"received", "most/mean"});
  }
  for (const auto& phase : of.phases) {
    grid.rows.push_back({text_at(phase, "/name"), text_of(phase, "median_ms", 3),
                         percent_or_none(number_at(phase, "share")),
                         text_at(phase, "/slowest_rank"), text_of(phase, "slowest_ms", 3)});
    if (!apart) continue;
    const auto rate = text_at(phase, "/name") + "_GBps";
    grid.rows.back().push_back(significant(p50_of(of, rate.c_str()), 4));
    grid.rows.back().push_back(text_of(phase, "ingress_imbalance", 3));
  }
  return grid;
}

Grid flows_of(const Case& of) {
  const bool some_large = std::ranges::any_of(
      of.pairs, [](const Json& pair) { return number_at(pair, "p50_GBps").has_value(); });
  const auto large =
      "GB/s, messages >= " + spaced_size(static_cast<std::uint64_t>(std::clamp(
                                 number_at(of.parameters, "ignore_bytes").value_or(1), 1.0, 1e18)));
  Grid grid{.columns = {{"", "from->to"}, {"all runs", "MB"}, {"all runs", "messages"}},
            .rows = {}};
  if (some_large)
    grid.columns.insert(grid.columns.end(), {{large, "p25"}, {large, "p50"}, {large, "p75"}});
  grid.columns.push_back({"", "goodput, GB/s"});
  const bool waits = std::ranges::any_of(
      of.pairs, [](const Json& pair) { return number_at(pair, "waiting_ms").has_value(); });
  if (waits) grid.columns.push_back({"", "waiting, ms"});
  // With what they are sorted by: there may be a million, and looking a field up takes long.
  std::vector<std::pair<double, const Json*>> pairs;
  for (const auto& pair : of.pairs) {
    const auto goodput = number_at(pair, "goodput_GBps");
    if (!goodput && number_at(pair, "messages") == 0.0) continue;  // nothing was sent
    pairs.emplace_back(goodput.value_or(0), &pair);
  }
  std::ranges::stable_sort(pairs, {}, &std::pair<double, const Json*>::first);
  if (pairs.size() > most_flows) pairs.resize(most_flows);
  for (const auto& [goodput, pair] : pairs) {
    const auto bytes = number_at(*pair, "bytes");
    std::vector<std::string> row{
        fmt::format("{}->{}", text_at(*pair, "/src"), text_at(*pair, "/dst")),
        significant(bytes ? std::optional(*bytes * 1e-6) : bytes, 4), text_at(*pair, "/messages")};
    if (some_large) {
      for (const auto* name : {"p25_GBps", "p50_GBps", "p75_GBps"}) {
        row.push_back(text_of(*pair, name, 3));
      }
    }
    row.push_back(text_of(*pair, "goodput_GBps", 3));
    if (waits) row.push_back(text_of(*pair, "waiting_ms", 3));
    grid.rows.push_back(std::move(row));
  }
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
      text += fmt::format("; {} ms communicating, {} ms waiting: {} overlapped",
                          significant(busy, 3), text_of(of.exchange, "exposed_ms", 3),
                          percent_or_none(number_at(of.exchange, "overlap")));
    }
    if (cpu_moves_the_bytes(of)) {
      text += " (the CPUs copy: overlap gains nothing)";
    }
    lines.emplace_back("exchange", text);
  }
  const auto recorded_ms = number_at(of.parameters, "recorded_ms");
  const auto wall_ms = p50_of(of, "wall_ms");
  if (recorded_ms && wall_ms && *recorded_ms > 0) {
    lines.emplace_back("recorded",
                       fmt::format("{} ms; this run took {} x that", significant(recorded_ms, 4),
                                   significant(*wall_ms / *recorded_ms, 3)));
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
