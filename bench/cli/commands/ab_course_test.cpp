#include "bench/cli/commands/ab_course.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <string>
#include <vector>

#include "harness/analysis/comparison/duets_for_test.hpp"
#include "harness/core/failure.hpp"

namespace ucxbench {
namespace {

using std::chrono::seconds;

constexpr const char* changed = "pingpong/tag/host-host/tcp/0B";
constexpr const char* noisy = "pingpong/tag/host-host/tcp/1B";

// Two cases, of which the first is decided at the first look and the second never is. What they
// have been measured so far, as the course lets them be.
class Measured {
 public:
  explicit Measured(AbCourse& course) : course_(course) {}

  // Until a look, or until it is over.
  void until_look(seconds each) {
    while (!course_.is_over()) {
      for (auto* duets : {&of_changed_, &of_noisy_}) {
        const auto* key = duets == &of_changed_ ? changed : noisy;
        const auto& only = course_.only();
        *duets += only.empty() || std::ranges::count(only, key) > 0 ? 1 : 0;
      }
      const auto [base, now] = runs();
      course_.took(each, base, now);
      if (course_.is_look()) return;
    }
  }
  bool choose() {
    const auto [base, now] = runs();
    return course_.choose(base, now);
  }
  TwoResults runs() const {
    return runs_of_duets({{.change = 0.5, .noise = 0.01, .duets = of_changed_},
                          {.change = 0, .noise = 0.5, .duets = of_noisy_}},
                         course_.looks(), all_launches);
  }

 private:
  AbCourse& course_;
  int of_changed_ = 0, of_noisy_ = 0;
};

TEST(AbCourse, LeavesOutWhatIsDecidedAtALook) {
  AbCourse course({.launches = all_launches, .most = all_launches});
  Measured measured(course);
  measured.until_look(seconds(10));
  EXPECT_EQ(course.done(), 13);
  EXPECT_TRUE(measured.choose());
  EXPECT_EQ(course.only(), std::vector<std::string>{noisy});
  measured.until_look(seconds(5));
  EXPECT_EQ(course.done(), all_launches);
  EXPECT_TRUE(course.is_over());
  EXPECT_EQ(course.left_out(), "");
  EXPECT_NE(course.totals().find("decided and left out of the rest: 1 after 13"), std::string::npos)
      << course.totals();
}

TEST(AbCourse, GoesOnWithWhatIsUndecidedInTheTimeThatIsLeft) {
  AbCourse course({.launches = all_launches, .most = 3 * all_launches});
  course.begin();
  Measured measured(course);
  measured.until_look(seconds(1000));
  EXPECT_TRUE(course.may_go_on());
  EXPECT_TRUE(measured.choose());
  measured.until_look(seconds(500));
  ASSERT_EQ(course.done(), all_launches);
  measured.choose();
  EXPECT_EQ(course.only(), std::vector<std::string>{noisy});
  // No time has passed for the clock, so there is as much as all launches of both cases take: 24
  // 000 s, of which each of this one takes 500.
  EXPECT_LE(*course.time_left(), seconds(24'000));
  while (!course.is_over()) {
    measured.until_look(seconds(500));
    if (course.is_look()) measured.choose();
  }
  EXPECT_EQ(course.done(), 3 * all_launches);
  EXPECT_NE(course.totals().find("measured on: 1 after 24"), std::string::npos) << course.totals();
}

TEST(AbCourse, DoesNotGoOnWithoutTime) {
  // The last launch took so long that no look beyond would be reached.
  AbCourse course({.launches = all_launches, .most = 3 * all_launches, .of_all = seconds(10'000)});
  Measured measured(course);
  measured.until_look(seconds(10));
  measured.choose();
  measured.until_look(seconds(1000));
  ASSERT_EQ(course.done(), all_launches);
  EXPECT_FALSE(measured.choose());
  EXPECT_TRUE(course.is_over());
  EXPECT_EQ(course.left_out(), "");
}

TEST(AbCourse, EndsBeforeALaunchThatWouldEndTooLate) {
  AbCourse course({.launches = all_launches, .most = all_launches, .of_all = seconds(100)});
  Measured measured(course);
  measured.until_look(seconds(200));
  EXPECT_EQ(course.done(), 1);
  EXPECT_TRUE(course.is_over());
  EXPECT_EQ(course.left_out(), "--max-time 100s was too short for all launches: both have 1 of 24");
}

TEST(AbCourse, TakesAChoiceBackThatCannotBeMeasured) {
  AbCourse course({.launches = all_launches, .most = 3 * all_launches});
  course.begin();
  Measured measured(course);
  measured.until_look(seconds(1000));
  EXPECT_TRUE(measured.choose());
  EXPECT_EQ(course.take_back(), "decided cases are measured to the end");
  EXPECT_TRUE(course.only().empty());
  measured.until_look(seconds(1000));
  measured.choose();
  EXPECT_EQ(course.take_back(), "undecided cases are not measured on");
  EXPECT_TRUE(course.is_over());
}

TEST(AbCourse, GoesOnWhereARunWasInterrupted) {
  const auto [base, now] = runs_of_duets(
      {{.change = 0, .noise = 0.01, .duets = 13}, {.change = 0, .noise = 0.01, .duets = 17}},
      {13, 24}, all_launches);
  auto interrupted = base;
  interrupted.run["ab"]["only"] = {noisy};
  AbCourse course({.launches = all_launches, .most = all_launches});
  course.resume(interrupted, now);
  EXPECT_EQ(course.done(), 17);
  EXPECT_EQ(course.only(), std::vector<std::string>{noisy});
  EXPECT_EQ(course.looks(), (std::vector{13, 24}));
}

TEST(AbCourse, RefusesTimeThatIsShorterThanOneLaunch) {
  const std::array<Json, 2> plans = {Json{{"seconds", 13}},
                                     Json{{"seconds", 90}, {"at_least", true}}};
  AbCourse enough({.launches = all_launches, .of_all = seconds(110)});
  EXPECT_NO_THROW(enough.expect(plans));
  EXPECT_NE(enough.whole_time(false).find("24 x 2 min, at least 41 min"), std::string::npos)
      << enough.whole_time(false);
  AbCourse too_short({.launches = all_launches, .of_all = seconds(100)});
  EXPECT_THROW(too_short.expect(plans), Failure);
  AbCourse unknown({.launches = all_launches, .of_all = seconds(1)});
  EXPECT_NO_THROW(unknown.expect({Json(), plans[1]}));
  EXPECT_EQ(unknown.whole_time(false), "");
}

}  // namespace
}  // namespace ucxbench
