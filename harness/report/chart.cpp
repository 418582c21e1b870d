#include "harness/report/chart.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <string_view>

#include "harness/report/text.hpp"

namespace ucxbench {
namespace {

constexpr std::size_t least_sizes = 3;
constexpr std::array<const char*, 8> bars = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};

// As setlocale(3) looks for the character set: the first of these that is set says it.
bool takes_utf8() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const char* value = std::getenv(name);
    if (value == nullptr || *value == '\0') continue;
    const std::string_view locale(value);
    return locale.find("UTF-8") != std::string_view::npos ||
           locale.find("utf8") != std::string_view::npos;
  }
  return false;
}

/// The cases that have a median above zero of this metric, and the median.
struct Curve {
  std::vector<const Case*> cases;
  std::vector<double> values;

  Curve(const Block& block, const std::string& metric) {
    for (const auto* of : block.measured) {
      const auto p50 = p50_of(*of, metric.c_str());
      if (!p50 || !(*p50 > 0) || !bytes_of(*of)) continue;
      cases.push_back(of);
      values.push_back(*p50);
    }
  }

  std::string bar(double value) const {
    const auto [low, high] = std::ranges::minmax(values);
    const auto share = high > low ? std::log(value / low) / std::log(high / low) : 0.0;
    const auto height = std::lround(share * (bars.size() - 1));
    return bars.at(static_cast<std::size_t>(height));
  }

  std::string end(std::size_t at, const std::string& unit) const {
    const auto value =
        unit == "us" ? readable_us(values[at]) : significant(values[at], 3) + " " + unit;
    return fmt::format("{} at {}", value, size_of(*cases[at]));
  }
};

}  // namespace

std::vector<std::string> charts_of(const Block& block) {
  if (block.kind() != ViewKind::curve || !takes_utf8()) return {};
  std::vector<std::string> lines;
  for (const auto& metric : block.cases.front()->shows.metrics) {
    if (metric.shown != Shown::drawn) continue;
    const Curve curve(block, metric.name);
    if (curve.cases.size() < least_sizes) continue;
    std::string drawn;
    for (const auto value : curve.values) drawn += curve.bar(value);
    lines.push_back(fmt::format("{:<24} {}  {} to {}", metric.title, drawn,
                                curve.end(0, metric.unit),
                                curve.end(curve.cases.size() - 1, metric.unit)));
  }
  return lines;
}

}  // namespace ucxbench
