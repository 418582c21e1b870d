#include "harness/analysis/history/change_points.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "harness/core/statistics.hpp"

namespace ucxbench {
namespace {

using Values = std::span<const double>;

constexpr std::size_t window_size = 50;  // runs looked at, as in Otava
constexpr std::size_t following = 3;     // runs after it that confirm a change
constexpr std::size_t least_side = following + 1;
constexpr double most_p = 0.0001;  // a tenth of Otava's: every run is a further chance of an alarm
constexpr double least_change = 0.005;
constexpr double least_noises = 2;
constexpr double far_out = 3;  // Tukey's fences, in interquartile ranges from the quartiles
constexpr double normal_quartiles = 1.349;  // of a normal distribution, in standard deviations

struct SplitPlace {
  std::size_t at = 0;  ///< values before it
  double p = 1;
};

double median_in(Values values) { return median({values.begin(), values.end()}); }

/// The least change that counts at that level, with that standard deviation.
double least_at(double level, double spread) {
  return std::max(least_change * std::abs(level), least_noises * spread);
}

/// The continued fraction of the incomplete beta function (Numerical Recipes, 6.4), for
/// x < (a + 1) / (a + b + 2).
double beta_fraction(double a, double b, double x) {
  constexpr double tiny = 1e-300;
  constexpr int step_limit = 300;
  const auto not_zero = [](double value) { return std::abs(value) < tiny ? tiny : value; };
  double c = 1, d = 1 / not_zero(1 - (a + b) * x / (a + 1)), sum = d;
  for (int m = 1; m <= step_limit; ++m) {
    double last = 1;
    for (const double step : {m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
                              -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))}) {
      d = 1 / not_zero(1 + step * d);
      c = not_zero(1 + step / c);
      last = c * d;
      sum *= last;
    }
    if (std::abs(last - 1) < 1e-15) break;
  }
  return sum;
}

/// Both tails of Student's t distribution.
double student_p(double t, double freedom) {
  const double x = freedom / (freedom + t * t), a = freedom / 2, b = 0.5;
  if (x >= 1) return 1;
  if (x <= 0) return 0;
  const double front = std::exp(std::lgamma(a + b) - std::lgamma(a) - std::lgamma(b) +
                                a * std::log(x) + b * std::log1p(-x));
  return x < (a + 1) / (a + b + 2) ? front * beta_fraction(a, b, x) / a
                                   : 1 - front * beta_fraction(b, a, 1 - x) / b;
}

double squares_in(Values values) {
  const double middle = mean(values);
  double sum = 0;
  for (const double value : values) sum += (value - middle) * (value - middle);
  return sum;
}

struct TTest {
  double p = 1;          ///< two-sided, that both sides have one mean
  double deviation = 0;  ///< within them, taken as one
};

TTest t_test(Values left, Values right) {
  const auto of_left = static_cast<double>(left.size());
  const auto of_right = static_cast<double>(right.size());
  const double freedom = of_left + of_right - 2;
  const double difference = std::abs(mean(right) - mean(left));
  const double deviation = std::sqrt((squares_in(left) + squares_in(right)) / freedom);
  if (deviation == 0) return {difference == 0 ? 1.0 : 0.0, 0};
  return {student_p(difference / (deviation * std::sqrt(1 / of_left + 1 / of_right)), freedom),
          deviation};
}

/// Values far outside of the quartiles are drawn near, so that one of them hides no change.
std::vector<double> without_spikes(Values window) {
  std::vector<double> ranked(window.begin(), window.end());
  std::ranges::sort(ranked);
  const auto n = ranked.size();
  const double low = ranked[n / 4], middle = ranked[n / 2], high = ranked[n - 1 - n / 4];
  const double reach = far_out * std::max(high - low, least_change * std::abs(middle));
  std::vector<double> calm(window.begin(), window.end());
  for (auto& value : calm) value = std::clamp(value, low - reach, high + reach);
  return calm;
}

/// The most likely change in a window, if it counts.
std::optional<SplitPlace> change_in(Values window) {
  const auto n = window.size();
  if (n < least_side + 2) return std::nullopt;
  const auto calm = without_spikes(window);
  const auto energies = split_energies(calm);
  const auto first = energies.begin() + (least_side - 2);
  const auto at =
      least_side + static_cast<std::size_t>(std::max_element(first, energies.end()) - first);
  const Values sides(calm);
  const auto test = t_test(sides.first(at), sides.subspan(at));
  const double p = test.p * static_cast<double>(n - least_side - 1);
  if (p > most_p) return std::nullopt;
  const double before = median_in(window.first(at)), after = median_in(window.subspan(at));
  if (std::abs(after - before) <= least_at(before, test.deviation)) return std::nullopt;
  return SplitPlace{at, p};
}

/// Whether a full window may have a change: its last values are away from the others. It is what
/// saves most of the time.
bool may_change(Values window) {
  std::vector<double> ranked(window.begin(), window.end());
  std::ranges::sort(ranked);
  const double low = quantile_of_sorted(ranked, 0.25), high = quantile_of_sorted(ranked, 0.75);
  const double middle = quantile_of_sorted(ranked, 0.5);
  return std::abs(median_in(window.last(least_side)) - middle) >
         least_at(middle, (high - low) / normal_quartiles) / 2;
}

/// Of all changes, the last one perhaps provisional.
std::vector<SplitPlace> places_in(Values values) {
  std::vector<SplitPlace> found;
  std::size_t start = 0;
  for (std::size_t end = 1; end <= values.size(); ++end) {
    const auto first = std::max(start, end - std::min(end, window_size));
    const auto window = values.subspan(first, end - first);
    if (end - start >= window_size && !may_change(window)) continue;
    const auto change = change_in(window);
    if (!change) continue;
    const SplitPlace place{first + change->at, change->p};
    if (end - place.at >= least_side) {
      found.push_back(place);
      start = place.at;
    } else if (end == values.size()) {
      found.push_back(place);
    }
  }
  return found;
}

}  // namespace

std::vector<double> split_energies(Values window) {
  const auto n = window.size();
  const auto away = [&](std::size_t from, std::size_t end) {
    double sum = 0;
    for (std::size_t at = 0; at < end; ++at) sum += std::abs(window[from] - window[at]);
    return sum;
  };
  double all = 0;
  for (std::size_t at = 0; at < n; ++at) all += away(at, n);
  std::vector<double> energies;
  double within_left = 0, to_all = 0;  // twice, as the sums over ordered pairs are
  for (std::size_t left = 1; left + 2 <= n; ++left) {
    within_left += 2 * away(left - 1, left - 1);
    to_all += away(left - 1, n);
    if (left < 2) continue;
    const double between = to_all - within_left, within_right = all - to_all - between;
    const auto of_left = static_cast<double>(left), of_right = static_cast<double>(n - left);
    energies.push_back((2 * between - within_left * of_right / (of_left - 1) -
                        within_right * of_left / (of_right - 1)) /
                       static_cast<double>(n));
  }
  return energies;
}

std::vector<ChangePoint> change_points(Values values) {
  const auto places = places_in(values);
  std::vector<ChangePoint> found;
  for (std::size_t i = 0; i < places.size(); ++i) {
    const auto at = places[i].at, from = i == 0 ? 0 : places[i - 1].at;
    const auto to = i + 1 < places.size() ? places[i + 1].at : values.size();
    found.push_back({.index = at,
                     .before = median_in(values.subspan(from, at - from)),
                     .after = median_in(values.subspan(at, to - at)),
                     .p = places[i].p,
                     .provisional = values.size() - at < least_side});
  }
  return found;
}

}  // namespace ucxbench
