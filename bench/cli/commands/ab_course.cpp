#include "bench/cli/commands/ab_course.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <string_view>
#include <utility>

#include "bench/cli/plan/estimate.hpp"
#include "harness/core/failure.hpp"
#include "harness/core/text.hpp"
#include "harness/core/units.hpp"
#include "harness/result/cases.hpp"
#include "harness/result/words.hpp"

namespace ucxbench {
namespace {

constexpr std::string_view at_least = "at least ";

// Of one launch, as a dry run ends: "each of 24 launches takes about 13 s". Empty where it does
// not.
std::optional<double> seconds_said(std::string_view answer) {
  constexpr std::string_view begin = " launches takes ";
  const auto at = answer.rfind(begin);
  if (at == std::string_view::npos) return std::nullopt;
  auto words = answer.substr(at + begin.size());
  for (const auto before : {at_least, std::string_view("about ")}) {
    if (words.starts_with(before)) words.remove_prefix(before.size());
  }
  double value = 0;
  const auto [rest, error] = std::from_chars(words.data(), words.data() + words.size(), value);
  if (error != std::errc()) return std::nullopt;
  words.remove_prefix(static_cast<std::size_t>(rest - words.data()));
  for (const auto& [unit, seconds] : {std::pair{" s", 1.0}, {" min", 60.0}, {" h", 3600.0}}) {
    if (words.starts_with(unit)) return value * seconds;
  }
  return std::nullopt;
}

double seconds(AbClock::duration time) { return std::chrono::duration<double>(time).count(); }

// Of those that are measured, in the order of the suite.
std::vector<std::string> keys_of(const Result& run, const std::vector<std::string>& only) {
  std::vector<std::string> keys;
  for (const auto& of : run.cases) {
    if (is_canary(of)) continue;
    if (only.empty() || std::ranges::count(only, of.key) > 0) keys.push_back(of.key);
  }
  return keys;
}

}  // namespace

void AbCourse::expect(const std::array<std::string, 2>& answers) {
  const auto base_s = seconds_said(answers[0]);
  const auto new_s = seconds_said(answers[1]);
  if (!base_s || !new_s) return;
  launch_s_ = *base_s + *new_s;
  at_least_ = answers[0].rfind(at_least) != std::string::npos;
  if (!extent_.of_all || *launch_s_ <= seconds(*extent_.of_all)) return;
  throw Failure(Exit::usage,
                fmt::format("--max-time {}: one launch of both sides takes about {}; give more, or "
                            "shorten the suite's cases",
                            format_duration(*extent_.of_all), rough_time(*launch_s_)));
}

std::string AbCourse::whole_time(bool duets) const {
  if (!launch_s_) return "";
  const auto whole_s = *launch_s_ * extent_.launches;
  auto text =
      fmt::format("both sides together: {} x {}, {}{}", extent_.launches, rough_time(*launch_s_),
                  at_least_ ? at_least : "about ", rough_time(whole_s));
  if (duets) text += "; duets that are decided sooner are left out of the rest";
  auto most_s = whole_s;
  if (extent_.of_all) most_s = std::min(most_s, seconds(*extent_.of_all));
  if (extent_.of_each_side) most_s = std::min(most_s, 2 * seconds(*extent_.of_each_side));
  if (most_s < whole_s) text += fmt::format("; ends after {}", rough_time(most_s));
  return text;
}

void AbCourse::took(AbClock::duration time, const Result& base, const Result& now) {
  longest_ = fewer_cases_ ? time : std::max(longest_, time);
  fewer_cases_ = false;
  if (++done_ > 1) return;
  const auto found = compare(base, now, extent_.demands);
  if (std::ranges::count(found.series, Method::duets, &SeriesChange::method) == 0) return;
  looks_ = planned_looks(extent_.launches, found.tests, extent_.demands.alpha);
}

std::optional<AbClock::duration> AbCourse::time_left() const {
  std::optional<AbClock::duration> left;
  const auto now = AbClock::now();
  if (extent_.of_all) left = *extent_.of_all - (now - made_);
  if (extent_.of_each_side) {
    const auto of_suite = 2 * *extent_.of_each_side - (now - begin_);
    left = std::min<AbClock::duration>(left.value_or(of_suite), of_suite);
  }
  return left;
}

bool AbCourse::is_over() {
  if (all_decided_ || done_ >= extent_.launches) return true;
  const auto left = time_left();
  if (done_ == 0 || !left || longest_ <= *left) return false;
  const bool of_suite =
      extent_.of_each_side && (!extent_.of_all || 2 * *extent_.of_each_side < *extent_.of_all);
  left_out_ = fmt::format("{} was too short for all launches: both have {} of {}",
                          of_suite ? format_duration(*extent_.of_each_side) + " for each run"
                                   : "--max-time " + format_duration(*extent_.of_all),
                          done_, extent_.launches);
  if (!only_.empty()) left_out_ += fmt::format(" of {}", counted(only_.size(), "undecided case"));
  return true;
}

bool AbCourse::is_look() const {
  return done_ < extent_.launches && std::ranges::count(looks_, done_) > 0;
}

bool AbCourse::leave_out_decided(const Result& base, const Result& now) {
  std::map<std::string, bool> open;  // of each case, whether a row is
  for (const auto& row : compare(base, now, extent_.demands).series) {
    open[row.key] |= row.method != Method::duets || !is_decided(row, extent_.demands.floor);
  }
  auto left = keys_of(base, only_);
  const auto measured = left.size();
  std::erase_if(left, [&](const std::string& key) { return open.contains(key) && !open.at(key); });
  if (left.size() == measured) return false;
  decided_.push_back(fmt::format("{} after {}", measured - left.size(), done_));
  all_decided_ = left.empty();
  only_ = std::move(left);
  fewer_cases_ = true;
  return !all_decided_;
}

std::string AbCourse::totals() const {
  auto text = fmt::format("{} of each side in {}",
                          counted(static_cast<std::size_t>(done_), "launch", "launches"),
                          rough_time(seconds(AbClock::now() - begin_)));
  if (!decided_.empty())
    text += "; cases decided and left out of the rest: " + join(decided_, ", ");
  return text;
}

}  // namespace ucxbench
