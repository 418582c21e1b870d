#include "harness/analysis/comparison/next_steps.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "harness/analysis/asked.hpp"
#include "harness/result/words.hpp"

namespace ucxbench {
namespace {

// Nobody measures a night long for one row: beyond this, and twice of what was measured, only a
// quieter machine is advice.
constexpr std::size_t most_worth_a_try = 100;

bool worth_a_try(const SeriesChange& series) {
  const auto measured = std::min(series.base_launches, series.new_launches);
  return series.launches_wanted <= std::max(most_worth_a_try, 2 * measured);
}

std::vector<const SeriesChange*> with(const Comparison& comparison, Doubt doubt) {
  std::vector<const SeriesChange*> found;
  for (const auto& series : comparison.series) {
    if (series.doubt == doubt) found.push_back(&series);
  }
  return found;
}

std::string of_too_few(const std::vector<const SeriesChange*>& rows, const Comparison& comparison,
                       const Result& now) {
  std::size_t wanted = 0;
  for (const auto* row : rows) wanted = std::max(wanted, row->launches_wanted);
  return fmt::format("{}: too few launches for a verdict among {}: use {}",
                     counted(rows.size(), "row"), counted(comparison.tests, "test"),
                     launches_in_words(now, fmt::format("{}", wanted)));
}

std::string of_noisy(const std::vector<const SeriesChange*>& rows, const Result& now) {
  auto text = fmt::format("{}: {}: use ", counted(rows.size(), "row"), rows.front()->why);
  std::size_t helped = 0;
  std::size_t launches = 0;
  for (const auto* row : rows) {
    if (!worth_a_try(*row)) continue;
    ++helped;
    launches = std::max(launches, row->launches_wanted);
  }
  const std::string quieter = "a quieter machine (ucx-bench doctor)";
  if (helped == 0) return text + quieter;
  text += launches_in_words(now, fmt::format("{}", launches));
  if (helped == rows.size()) return text + ", or " + quieter;
  return text + fmt::format(" for {} of them, {} for the others", helped, quieter);
}

}  // namespace

std::vector<std::string> next_steps(const Comparison& comparison, const Result& now) {
  std::vector<std::string> steps;
  const auto few = with(comparison, Doubt::too_few_launches);
  if (!few.empty()) steps.push_back(of_too_few(few, comparison, now));
  const auto noisy = with(comparison, Doubt::too_noisy);
  if (!noisy.empty()) steps.push_back(of_noisy(noisy, now));
  return steps;
}

}  // namespace ucxbench
