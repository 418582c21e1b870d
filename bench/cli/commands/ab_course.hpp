#pragma once

#include <array>
#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "harness/analysis/comparison/comparison.hpp"
#include "harness/result/result.hpp"

namespace ucxbench {

using AbClock = std::chrono::steady_clock;

/// How much `ab` measures.
struct AbExtent {
  int launches = 0;  ///< of each side, of all cases
  int most = 0;      ///< of duets that are undecided then, if more
  /// The suite's, for each side; and --max-time, for all.
  std::optional<std::chrono::nanoseconds> of_each_side{}, of_all{};
  Demands demands{};                ///< for what is compared between launches
  std::vector<std::string> only{};  ///< keys of the cases; empty: all
  /// Of a search, which tries values that UCX may have anyway: sides without a difference are
  /// measured all the same.
  bool may_be_equal = false;
};

/// What is still to be measured: cases that are decided at a look (looks.hpp) are left out of the
/// rest, and undecided ones go on in their time, beyond the launches of all cases: the most
/// promising, chosen again a quarter of those launches later (going_on.hpp). No launch of both
/// sides is begun that, taking as long as the longest so far, would end after the time is over.
class AbCourse {
 public:
  /// The time for all counts from here.
  explicit AbCourse(AbExtent extent) : extent_(std::move(extent)), only_(extent_.only) {}

  /// The sides' plans (plan_json), null where a program told none. Throws Failure(Exit::usage)
  /// where the time for all is less than one launch of both takes.
  void expect(const std::array<Json, 2>& plans);
  /// Of both sides together, in words; empty where a program did not say.
  std::string whole_time(bool duets) const;

  /// Goes on where an interrupted run of both sides ended. The launch in which it ended is not
  /// measured again.
  void resume(const Result& base, const Result& now);
  /// Before the first launch.
  void begin() { begin_ = AbClock::now(); }
  /// After one of both sides; `base` and `now` have all of them.
  void took(AbClock::duration time, const Result& base, const Result& now);
  /// Until when it is over; beyond the launches of all cases, as long as these would have taken if
  /// none had been left out, unless the time for all is given. Empty where there is no limit.
  std::optional<AbClock::duration> time_left() const;
  /// Whether there is to be no more.
  bool is_over();

  /// Whether it is time to choose(), which is after the last launch no more.
  bool is_look() const;
  /// Whether something goes on and other cases are measured than before.
  bool choose(const Result& base, const Result& now);
  /// The choice cannot be measured: takes it back. Says what becomes of the cases.
  std::string take_back();

  int launches() const { return extent_.launches; }
  bool is_beyond() const { return done_ >= extent_.launches; }
  int done() const { return done_; }
  /// Keys of the cases that are measured on; empty: all.
  const std::vector<std::string>& only() const { return only_; }
  /// Why it was over before the last launch; empty otherwise.
  const std::string& left_out() const { return left_out_; }
  /// After so many launches, for the run files; empty before the first launch has ended, and where
  /// there is but one look.
  const std::vector<int>& looks() const { return looks_; }
  /// Whether a look is planned beyond the launches of all cases.
  bool may_go_on() const { return !looks_.empty() && looks_.back() > extent_.launches; }
  /// "in 12 min: 24 launches of each side, 20 of 22 cases decided after 16".
  std::string totals() const;

 private:
  void leave_out_decided(const Result& base, const Result& now);
  void go_on(const Result& base, const Result& now);
  void plan_looks(const Result& base, const Result& now);

  AbExtent extent_;
  AbClock::time_point made_ = AbClock::now(), begin_ = made_;
  std::optional<double> launch_s_;    ///< of both sides, as their programs say
  bool at_least_ = false;             ///< as they say, too
  AbClock::duration longest_{};       ///< of launches of as many cases as the next
  AbClock::duration of_all_cases_{};  ///< all launches until one was left out
  int launches_of_all_ = 0;           ///< these
  AbClock::duration of_these_{};      ///< all launches since the choice
  int launches_of_these_ = 0;
  bool other_cases_ = false;  ///< in the next launch than in the last
  int next_choice_ = 0;       ///< beyond the launches of all cases
  bool over_ = false;         ///< nothing is left to be measured
  int done_ = 0;
  std::vector<int> looks_;
  std::vector<std::string> only_;
  std::vector<std::string> decided_, went_on_;  ///< at each look or choice, in words
  std::string left_out_;
};

}  // namespace ucxbench
