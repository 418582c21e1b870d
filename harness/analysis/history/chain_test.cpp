#include "harness/analysis/history/chain.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "harness/analysis/history/history_for_test.hpp"

namespace ucxbench {
namespace {

constexpr const char* key = "pingpong/tag/host-host/tcp/8B";
constexpr double lost = 1.3;
constexpr double no_verdict = -1, impossible = -2, failed = -3, missing = -4;

/// As `compare` says where a change of 4 % is sure.
NightVerdict verdict_on(double base, double now) {
  if (now == failed) return NightVerdict::failed;
  if (now == impossible) return NightVerdict::impossible;
  if (base == impossible) return NightVerdict::flawed_base;
  if (base < 0 || now < 0) return NightVerdict::inconclusive;
  if (std::abs(now / base - 1) < 0.04) return NightVerdict::unchanged;
  return now > base ? NightVerdict::regressed : NightVerdict::improved;
}

/// What stands of the one row before the last of these nights; numbers of nights count from 1.
struct Outcome {
  std::string base{}, since{}, failing{};
  bool is_awaited = true;
  bool operator==(const Outcome&) const = default;
};

Outcome after(const std::vector<double>& nights, const Accepts& accepts = {},
              const std::vector<std::size_t>& segments = {}, const std::string& state_of_9 = "") {
  MadeNights made;
  for (std::size_t at = 0; at < nights.size(); ++at) {
    std::vector<MadeCase> cases = {{"other", 1}};
    if (nights[at] != missing) {
      cases.push_back({key, nights[at] < 0 ? 1 : nights[at],
                       nights[at] == failed ? CaseState::failed : CaseState::measured});
    }
    auto& run = made.add(cases, segments.empty() ? 0 : segments[at]);
    if (at == 8 && !state_of_9.empty()) run.entry->record->state = state_of_9;
  }
  const auto stream = made.stream();
  const auto value_of = [&](const HistoryRun& run) { return nights[run.seconds - 1]; };
  const Chain chain(
      stream,
      [&](const HistoryRun& base, const HistoryRun& now) {
        return std::map<RowName, NightVerdict>{
            {{key, "latency_us"}, verdict_on(value_of(base), value_of(now))}};
      },
      accepts ? accepts : [](const std::string&, const HistoryRun&) { return false; });
  for (const auto& [name, of] : chain.awaited(*stream.runs.back())) {
    if (name.first != key) continue;
    const auto id = [](const HistoryRun* run) { return run == nullptr ? "" : run->record().id; };
    return {id(of.base), id(of.since), id(of.failing)};
  }
  return {.is_awaited = false};
}

std::vector<double> good(std::size_t nights = 8) { return std::vector<double>(nights, 1); }

std::vector<double> then(std::vector<double> nights, const std::vector<double>& more) {
  nights.insert(nights.end(), more.begin(), more.end());
  return nights;
}

TEST(Chain, ALossStandsHoweverManyNightsPass) {
  EXPECT_EQ(after(then(good(), {lost})), (Outcome{"night-8", "", ""}));
  for (const std::size_t more : {1U, 2U, 6U}) {
    EXPECT_EQ(after(then(good(), std::vector<double>(more + 1, lost))),
              (Outcome{"night-8", "night-9", ""}));
  }
}

TEST(Chain, ALossEndsWhereARunIsAsGoodAsTheBase) {
  EXPECT_EQ(after(then(good(), {lost, lost, 1, 1})), (Outcome{"night-11", "", ""}));
  EXPECT_EQ(after(then(good(), {lost, 1, lost, lost})), (Outcome{"night-10", "night-11", ""}));
}

TEST(Chain, ANightWithoutAVerdictRecoversNothing) {
  EXPECT_EQ(after(then(good(), {lost, no_verdict, lost})), (Outcome{"night-8", "night-9", ""}));
  // Only where nothing was ever found as good as the base, three such runs make a new one.
  EXPECT_EQ(after({1, no_verdict, no_verdict, 1}), (Outcome{"night-1", "", ""}));
  EXPECT_EQ(after({1, no_verdict, no_verdict, no_verdict, 1}), (Outcome{"night-4", "", ""}));
}

TEST(Chain, ARunThatFailedIsNoBase) {
  EXPECT_EQ(after(then(good(), {lost, lost, lost}), {}, {}, "failed"),
            (Outcome{"night-8", "night-10", ""}));
}

TEST(Chain, ACaseThatFailedIsNoBaseAndRecoversNothing) {
  EXPECT_EQ(after(then(good(), {failed, failed, failed})), (Outcome{"night-8", "", "night-9"}));
  EXPECT_EQ(after(then(good(), {failed, failed, 1, 1})), (Outcome{"night-11", "", ""}));
  EXPECT_EQ(after(then(good(), {lost, failed, lost})), (Outcome{"night-8", "night-9", "night-10"}));
  EXPECT_EQ(after(then(good(), std::vector<double>(32, failed))),
            (Outcome{"night-8", "", "night-9"}));
}

TEST(Chain, AnImpossibleFigureIsNoBaseAndNoLevel) {
  EXPECT_EQ(after({1, 1, 1, impossible, impossible, impossible, impossible, 1}),
            (Outcome{"night-3", "", ""}));
  // Of the base: the run is the base from now on.
  EXPECT_EQ(after({impossible, 1, 1}), (Outcome{"night-2", "", ""}));
}

TEST(Chain, ASlowLossIsHeldAgainstWhereItBegan) {
  std::vector<double> slowly;
  for (int night = 0; night < 16; ++night) slowly.push_back(std::pow(1.01, night));
  EXPECT_EQ(after(slowly), (Outcome{"night-1", "night-5", ""}));
  slowly.resize(3);
  EXPECT_EQ(after(slowly), (Outcome{"night-2", "", ""}));
}

TEST(Chain, OneLuckyNightIsNoBase) {
  EXPECT_EQ(after(then(good(), {0.8, 1, 1})), (Outcome{"night-10", "", ""}));
  EXPECT_EQ(after(then(good(), {0.8, 0.8, 0.8, 0.8, 1})), (Outcome{"night-12", "", ""}));
}

TEST(Chain, WhatIsAcceptedIsTheNewLevel) {
  const auto accepted_until = [](std::int64_t last) {
    return [last](const std::string& row, const HistoryRun& run) {
      return row == std::string(key) + " latency_us" && run.seconds <= last;
    };
  };
  const auto nights = then(good(), {lost, lost, lost, lost * lost, lost * lost});
  EXPECT_EQ(after(nights, accepted_until(9)), (Outcome{"night-11", "night-12", ""}));
  EXPECT_EQ(after(nights, accepted_until(99)), (Outcome{"night-12", "", ""}));
  EXPECT_EQ(after(nights, accepted_until(8)), (Outcome{"night-8", "night-9", ""}));
}

TEST(Chain, AnEnvironmentThatReturnsHasItsBase) {
  const auto nights = then(good(), {lost, lost, lost});
  EXPECT_EQ(after(nights, {}, {0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0}),
            (Outcome{"night-8", "night-9", ""}));
  EXPECT_FALSE(after(nights, {}, {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}).is_awaited);
}

TEST(Chain, WhatNobodyHasMeasuredForLongIsNotMissed) {
  EXPECT_TRUE(after(then(good(), std::vector<double>(20, missing))).is_awaited);
  EXPECT_FALSE(after(then(good(), std::vector<double>(22, missing))).is_awaited);
}

}  // namespace
}  // namespace ucxbench
