#include "harness/analysis/loggp.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <tuple>
#include <utility>

#include "harness/core/statistics.hpp"
#include "harness/result/cases.hpp"
#include "harness/result/interval.hpp"

namespace ucxbench {
namespace {

constexpr std::size_t least_points_of_range = 3;
constexpr std::size_t most_loggp_ranges = 6;

using Points = std::span<const LogGPPoint>;

double squared(double value) { return value * value; }

// Of y = a + b·x, neither below 0; each error relative to its y.
std::pair<double, double> line_through(const std::vector<std::pair<double, double>>& points) {
  double w = 0, wx = 0, wy = 0, wxx = 0, wxy = 0;
  for (const auto& [x, y] : points) {
    const auto weight = 1 / squared(y);
    w += weight;
    wx += weight * x;
    wy += weight * y;
    wxx += weight * x * x;
    wxy += weight * x * y;
  }
  const auto spread = w * wxx - wx * wx;
  const auto slope = spread > 0 ? (w * wxy - wx * wy) / spread : 0;
  if (slope <= 0) return {wy / w, 0};
  const auto base = (wy - slope * wx) / w;
  if (base >= 0) return {base, slope};
  return {0, wxy / wxx};
}

LogGP fitted_to(Points points) {
  std::vector<std::pair<double, double>> trains;
  std::vector<double> send, receive;
  for (const auto& point : points) {
    trains.emplace_back(point.bytes - 1, point.message_us);
    send.push_back(point.send_us);
    receive.push_back(point.receive_us);
  }
  LogGP model;
  std::tie(model.g_us, model.G_us) = line_through(trains);
  model.o_s_us = median(std::move(send));
  model.o_r_us = median(std::move(receive));
  double weights = 0, left = 0;
  for (const auto& point : points) {
    const auto weight = 1 / squared(point.latency_us);
    weights += weight;
    left += weight * (point.latency_us - model.latency_us(point.bytes));
  }
  model.L_us = left / weights;
  return model;
}

double errors_of(Points points) {
  const auto model = fitted_to(points);
  double sum = 0;
  for (const auto& point : points) {
    sum += squared(model.latency_us(point.bytes) / point.latency_us - 1) +
           squared(model.message_us(point.bytes) / point.message_us - 1);
  }
  return sum;
}

struct Sizes {
  std::vector<LogGPPoint> points;
  std::vector<const Case*> cases;
  Json left_out = Json::array();
};

std::optional<LogGPPoint> point_of(const Case& of, const auto& value) {
  const auto bytes = bytes_of(of);
  LogGPPoint point{.bytes = static_cast<double>(bytes.value_or(0))};
  for (const auto& [name, member] : {std::pair("latency_us", &LogGPPoint::latency_us),
                                     std::pair("message_us", &LogGPPoint::message_us),
                                     std::pair("send_overhead_us", &LogGPPoint::send_us),
                                     std::pair("receive_overhead_us", &LogGPPoint::receive_us)}) {
    const std::optional<double> us = value(name);
    if (!us || *us <= 0) return std::nullopt;
    point.*member = *us;
  }
  return point.bytes > 0 ? std::optional(point) : std::nullopt;
}

Sizes measured_sizes(const Judged& run, const Block& block) {
  Sizes sizes;
  std::vector<std::pair<LogGPPoint, const Case*>> all;
  for (const auto* of : block.measured) {
    const auto median_of = [&](const char* name) { return p50_of(*of, name); };
    const auto point = point_of(*of, median_of);
    if (!point) continue;
    if (const auto why = why_unranked(run, *of)) {
      sizes.left_out.push_back({{"bytes", *bytes_of(*of)},
                                {"key", of->key},
                                {"flaw", name_of(unranked_names, *why)},
                                {"why", in_words(*why, run, *of)}});
    } else {
      all.emplace_back(*point, of);
    }
  }
  std::ranges::sort(all, {}, [](const auto& each) { return each.first.bytes; });
  for (const auto& [point, of] : all) {
    sizes.points.push_back(point);
    sizes.cases.push_back(of);
  }
  return sizes;
}

/// The same range in each launch that has all of it.
std::vector<LogGP> fitted_by_launch(std::span<const Case* const> cases) {
  std::map<int, std::vector<LogGPPoint>> launches;
  for (const auto* of : cases) {
    for (const auto& record : of->launches) {
      const auto median_of = [&](const char* name) {
        const auto samples = record.samples.find(name);
        return samples == record.samples.end() ? std::nullopt : samples->second.quantiles.p50;
      };
      if (const auto point = point_of(*of, median_of)) launches[record.launch].push_back(*point);
    }
  }
  std::vector<LogGP> models;
  for (const auto& [launch, points] : launches) {
    if (points.size() == cases.size()) models.push_back(fitted(points));
  }
  return models;
}

constexpr std::array<std::pair<const char*, double LogGP::*>, 5> model_parameters = {
    {{"L_ns", &LogGP::L_us},
     {"o_s_ns", &LogGP::o_s_us},
     {"o_r_ns", &LogGP::o_r_us},
     {"g_ns", &LogGP::g_us},
     {"G_ns_per_byte", &LogGP::G_us}}};

Json range_of(Points points, std::span<const Case* const> cases) {
  const auto model = fitted_to(points);
  const auto launches = fitted_by_launch(cases);
  const auto whole = [](double bytes) { return static_cast<std::uint64_t>(bytes); };
  Json range = {{"from_bytes", whole(points.front().bytes)},
                {"to_bytes", whole(points.back().bytes)}};
  Json ci95 = Json::object();
  Json intervals = Json::object();
  for (const auto& [name, member] : model_parameters) {
    range[name] = model.*member * 1e3;
    std::vector<double> values;
    for (const auto& launch : launches) values.push_back(launch.*member * 1e3);
    const auto interval = interval_over(std::move(values));
    const bool known = interval && interval->kind == Interval::Kind::ci95;
    ci95[name] = known ? Json({interval->low, interval->high}) : Json();
    intervals[name] = to_json(interval);
  }
  // A gap of 0 is the bound of the fit, and no message costs nothing: these sizes do not show it.
  for (const auto* name : {"g_ns", "G_ns_per_byte"}) {
    if (range[name] == 0.0) range[name] = ci95[name] = intervals[name] = nullptr;
  }
  // There is no latency below 0: what sender and receiver do overlaps, which LogGP does not
  // describe.
  if (model.L_us < 0) {
    range["overlap_ns"] = -model.L_us * 1e3;
    range["L_ns"] = ci95["L_ns"] = intervals["L_ns"] = nullptr;
  }
  range["ci95"] = std::move(ci95);
  range["intervals"] = std::move(intervals);
  Json sizes = Json::array();
  for (std::size_t at = 0; at < points.size(); ++at) {
    const auto& [bytes, latency_us, message_us, send_us, receive_us] = points[at];
    const auto one_way = model.latency_us(bytes);
    const auto further = model.message_us(bytes);
    const auto interval_of_metric = [&](const char* name) {
      return to_json(interval_of(cases[at]->metrics.at(name)));
    };
    sizes.push_back({{"bytes", whole(bytes)},
                     {"key", cases[at]->key},
                     {"latency_us", latency_us},
                     {"model_latency_us", one_way},
                     {"latency_off", one_way / latency_us - 1},
                     {"message_us", message_us},
                     {"model_message_us", further},
                     {"message_off", further / message_us - 1},
                     {"intervals",
                      {{"latency_us", interval_of_metric("latency_us")},
                       {"message_us", interval_of_metric("message_us")}}}});
  }
  range["sizes"] = std::move(sizes);
  return range;
}

}  // namespace

LogGP fitted(const std::vector<LogGPPoint>& points) { return fitted_to(points); }

std::vector<std::size_t> ranges_of(const std::vector<LogGPPoint>& points) {
  const auto count = points.size();
  const auto most = std::min(most_loggp_ranges, count / least_points_of_range);
  if (most == 0) return {0};
  constexpr auto never = std::numeric_limits<double>::max();
  // By number of ranges and how many points these have: the least errors, and the last one's begin.
  std::vector least(most + 1, std::vector(count + 1, never));
  std::vector begin(most + 1, std::vector<std::size_t>(count + 1, 0));
  least[0][0] = 0;
  for (std::size_t end = least_points_of_range; end <= count; ++end) {
    for (std::size_t from = 0; from + least_points_of_range <= end; ++from) {
      const auto errors = errors_of(Points(points).subspan(from, end - from));
      for (std::size_t ranges = 1; ranges <= most; ++ranges) {
        if (least[ranges - 1][from] == never) continue;
        const auto all = least[ranges - 1][from] + errors;
        if (all >= least[ranges][end]) continue;
        least[ranges][end] = all;
        begin[ranges][end] = from;
      }
    }
  }
  // Two curves are fitted by L, g and G of each range, and by where it begins. No time is known to
  // better than a thousandth.
  const auto observations = 2 * static_cast<double>(count);
  const auto criterion = [&](std::size_t ranges) {
    const auto mean_square = std::max(least[ranges][count] / observations, 1e-6);
    return observations * std::log(mean_square) +
           4 * static_cast<double>(ranges) * std::log(observations);
  };
  std::size_t best = 1;
  for (std::size_t ranges = 2; ranges <= most; ++ranges) {
    if (least[ranges][count] != never && criterion(ranges) < criterion(best)) best = ranges;
  }
  std::vector<std::size_t> begins;
  for (auto end = count; best > 0; --best) {
    end = begin[best][end];
    begins.insert(begins.begin(), end);
  }
  return begins;
}

Json loggp_of(const Result& result) {
  Json all = Json::array();
  const Judged run(result);
  for (const auto& block : run.blocks) {
    const auto [points, cases, left_out] = measured_sizes(run, block);
    if (points.size() < least_points_of_range) continue;
    auto begins = ranges_of(points);
    begins.push_back(points.size());
    Json ranges = Json::array();
    for (std::size_t at = 0; at + 1 < begins.size(); ++at) {
      const auto count = begins[at + 1] - begins[at];
      ranges.push_back(range_of(Points(points).subspan(begins[at], count),
                                std::span(cases).subspan(begins[at], count)));
    }
    all.push_back({{"title", block.title}, {"ranges", std::move(ranges)}});
    if (!left_out.empty()) all.back()["left_out"] = left_out;
  }
  return all;
}

}  // namespace ucxbench
