#include "bench/cli/commands/ab_course.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "bench/cli/plan/estimate.hpp"
#include "harness/analysis/comparison/going_on.hpp"
#include "harness/core/failure.hpp"
#include "harness/core/text.hpp"
#include "harness/core/units.hpp"
#include "harness/result/cases.hpp"
#include "harness/result/words.hpp"

namespace ucxbench {
namespace {

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

void AbCourse::expect(const std::array<Json, 2>& plans) {
  double both_s = 0;
  for (const auto& plan : plans) {
    const auto launch_s = number_at(plan, "seconds");
    if (!launch_s) return;
    both_s += *launch_s;
    at_least_ = at_least_ || plan.value("at_least", false);
  }
  launch_s_ = both_s;
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
                  at_least_ ? "at least " : "about ", rough_time(whole_s));
  if (duets) {
    text += "; duets that are decided sooner are left out of the rest";
    if (extent_.most > extent_.launches) {
      text += fmt::format(", undecided ones go on in their time, up to {} launches", extent_.most);
    }
  }
  auto most_s = whole_s;
  if (extent_.of_all) most_s = std::min(most_s, seconds(*extent_.of_all));
  if (extent_.of_each_side) most_s = std::min(most_s, 2 * seconds(*extent_.of_each_side));
  if (most_s < whole_s) text += fmt::format("; ends after {}", rough_time(most_s));
  return text;
}

void AbCourse::resume(const Result& base, const Result& now) {
  for (const auto* run : {&base, &now}) {
    for (const auto& of : run->cases) {
      for (const auto& record : of.launches) done_ = std::max(done_, record.launch + 1);
    }
  }
  const auto& facts = base.run.at("ab");
  only_ = facts.value("only", extent_.only);
  looks_ = facts.value("looks", std::vector<int>());
  if (looks_.empty()) plan_looks(base, now);
}

void AbCourse::plan_looks(const Result& base, const Result& now) {
  const auto found = compare(base, now, extent_.demands);
  if (std::ranges::count(found.series, Method::duets, &SeriesChange::method) == 0) return;
  looks_ = planned_looks(extent_.launches, found.tests, extent_.demands.alpha, extent_.most);
  next_choice_ = extent_.launches;
}

void AbCourse::took(AbClock::duration time, const Result& base, const Result& now) {
  if (other_cases_) {
    longest_ = of_these_ = {};
    launches_of_these_ = 0;
    other_cases_ = false;
  }
  longest_ = std::max(longest_, time);
  of_these_ += time;
  ++launches_of_these_;
  if (only_ == extent_.only) {
    of_all_cases_ += time;
    ++launches_of_all_;
  }
  if (++done_ == 1) plan_looks(base, now);
}

std::optional<AbClock::duration> AbCourse::time_left() const {
  std::optional<AbClock::duration> left;
  const auto now = AbClock::now();
  if (extent_.of_all) left = *extent_.of_all - (now - made_);
  if (extent_.of_each_side) {
    const auto of_suite = 2 * *extent_.of_each_side - (now - begin_);
    left = std::min<AbClock::duration>(left.value_or(of_suite), of_suite);
  }
  if (is_beyond() && !extent_.of_all && launches_of_all_ > 0) {
    const auto of_all = of_all_cases_ / launches_of_all_ * extent_.launches - (now - begin_);
    left = std::min<AbClock::duration>(left.value_or(of_all), of_all);
  }
  return left;
}

bool AbCourse::is_over() {
  if (over_ || done_ >= std::max(extent_.launches, may_go_on() ? looks_.back() : 0)) return true;
  if (is_beyond() && went_on_.empty()) return true;
  const auto left = time_left();
  if (done_ == 0 || !left || longest_ <= *left) return false;
  if (is_beyond()) return true;
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
  if (is_beyond()) return may_go_on() && done_ < looks_.back() && done_ == next_choice_;
  return std::ranges::count(looks_, done_) > 0;
}

bool AbCourse::choose(const Result& base, const Result& now) {
  const auto before = only_;
  is_beyond() ? go_on(base, now) : leave_out_decided(base, now);
  other_cases_ = only_ != before;
  return other_cases_ && !over_;
}

std::string AbCourse::take_back() {
  if (is_beyond()) {
    over_ = true;
    went_on_.clear();
    return "undecided cases are not measured on";
  }
  only_ = extent_.only;
  return "decided cases are measured to the end";
}

// A launch of fewer cases is taken to be as much shorter; the next choice is by what it took.
void AbCourse::go_on(const Result& base, const Result& now) {
  const auto measured = keys_of(base, only_);
  auto open = undecided_cases(base, now, extent_.demands);
  std::erase_if(open,
                [&](const std::string& key) { return std::ranges::count(measured, key) == 0; });
  const auto next_look = *std::ranges::upper_bound(looks_, done_);
  next_choice_ = std::min(done_ + std::max(1, extent_.launches / 4), next_look);
  if (const auto left = time_left()) {
    const auto one_s =
        seconds(of_these_) / launches_of_these_ / static_cast<double>(measured.size());
    const auto count = affordable_cases(looks_, done_, next_choice_, seconds(*left) / one_s);
    open.resize(std::min(open.size(), count));
  }
  over_ = open.empty();
  if (over_) return;
  if (went_on_.empty() || open.size() < measured.size()) {
    went_on_.push_back(fmt::format("{} after {}", open.size(), done_));
  }
  longest_ = longest_ * static_cast<int>(open.size()) / static_cast<int>(measured.size());
  only_ = measured;
  std::erase_if(only_, [&](const std::string& key) { return std::ranges::count(open, key) == 0; });
}

void AbCourse::leave_out_decided(const Result& base, const Result& now) {
  std::map<std::string, bool> open;  // of each case, whether a row is
  for (const auto& row : compare(base, now, extent_.demands).series) {
    open[row.key] |= row.method != Method::duets || !row.decided;
  }
  auto left = keys_of(base, only_);
  const auto measured = left.size();
  std::erase_if(left, [&](const std::string& key) { return open.contains(key) && !open.at(key); });
  if (left.size() == measured) return;
  decided_.push_back(fmt::format("{} after {}", measured - left.size(), done_));
  over_ = left.empty();
  only_ = std::move(left);
}

std::string AbCourse::totals() const {
  auto text = fmt::format("{} of each side in {}",
                          counted(static_cast<std::size_t>(done_), "launch", "launches"),
                          rough_time(seconds(AbClock::now() - begin_)));
  if (!decided_.empty())
    text += "; cases decided and left out of the rest: " + join(decided_, ", ");
  if (!went_on_.empty()) text += "; undecided cases measured on: " + join(went_on_, ", ");
  return text;
}

}  // namespace ucxbench
