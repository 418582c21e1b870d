#include "harness/launch/duet.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "harness/core/failure.hpp"

namespace ucxbench {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds long_enough{60'000};

const char* name_of(DuetSide side) { return side == DuetSide::base ? "base" : "new"; }

/// What was done, in its order.
class Diary {
 public:
  void note(const std::string& what) {
    const std::lock_guard lock(mutex_);
    all_.push_back(what);
  }
  const std::vector<std::string>& all() const { return all_; }

 private:
  std::mutex mutex_;
  std::vector<std::string> all_;
};

void on_both_sides(const std::function<void(DuetSide)>& work) {
  std::thread other([&] { work(DuetSide::now); });
  work(DuetSide::base);
  other.join();
}

// Both supervisors agree on `launches` launches.
void launch_all(DuetFile& file, DuetSide first, std::uint32_t launches) {
  file.begin(first);
  Signals signals;
  on_both_sides([&](DuetSide side) {
    DuetSupervisor supervisor(file.option(side), signals);
    supervisor.begin();
    for (std::uint32_t launch = 0; launch < launches; ++launch) {
      const auto terms = supervisor.begin_launch(7);
      ASSERT_TRUE(terms.has_value());
      EXPECT_EQ(terms->number, launch);
      EXPECT_EQ(terms->option, file.option(side));
      supervisor.end_launch();
    }
    supervisor.end();
  });
}

TEST(DuetSupervisor, WorksInTurns) {
  for (const auto first : {DuetSide::base, DuetSide::now}) {
    DuetFile file(false);
    file.begin(first);
    Signals signals;
    Diary diary;
    on_both_sides([&](DuetSide side) {
      DuetSupervisor supervisor(file.option(side), signals);
      EXPECT_FALSE(supervisor.only());
      supervisor.begin();
      diary.note(fmt::format("{} begins", name_of(side)));
      // Of other cases than the other side's, and such as can be no duet.
      for (const std::uint64_t offer : {side == DuetSide::base ? 1U : 2U, 0U}) {
        EXPECT_FALSE(supervisor.begin_launch(offer));
        diary.note(fmt::format("{} launches", name_of(side)));
      }
      supervisor.end();
    });
    const auto* one = name_of(first);
    const auto* two = name_of(first == DuetSide::base ? DuetSide::now : DuetSide::base);
    std::vector<std::string> in_turns;
    for (const auto* what : {"begins", "launches", "launches"}) {
      for (const auto* who : {one, two}) in_turns.push_back(fmt::format("{} {}", who, what));
    }
    EXPECT_EQ(diary.all(), in_turns);
  }
}

TEST(DuetSupervisor, AgreesOnOneLaunchAfterTheOther) {
  DuetFile file(true);
  launch_all(file, DuetSide::now, 3);
  launch_all(file, DuetSide::base, 2);
}

TEST(DuetSupervisor, GoesOnAloneWhenTheOtherIsGone) {
  DuetFile file(false);
  file.begin(DuetSide::base);
  Signals signals;
  {
    DuetSupervisor gone(file.option(DuetSide::base), signals);
  }
  DuetSupervisor alone(file.option(DuetSide::now), signals);
  alone.begin();
  EXPECT_FALSE(alone.begin_launch(7));
  alone.end();

  file.begin(DuetSide::base);
  file.leave(DuetSide::base);  // which was killed
  DuetSupervisor again(file.option(DuetSide::now), signals);
  again.begin();
  EXPECT_FALSE(again.begin_launch(7));
}

TEST(DuetSupervisor, RefusesWhatIsNoMemoryOfIts) {
  DuetFile file(false);
  const auto option = file.option(DuetSide::base);
  Signals signals;
  for (const auto* wrong : {"", "base", "old:/dev/zero", "base:/dev/null", "new:/nowhere"}) {
    EXPECT_THROW(DuetSupervisor(wrong, signals), Failure) << wrong;
  }
  auto view = DuetView::open(option);
  ++view->memory().version;
  try {
    DuetSupervisor newer(option, signals);
    FAIL() << "another version";
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.exit(), Exit::usage);
    EXPECT_STREQ(failure.what(), "--duet: duets of version 2; this ucx-bench has 1");
  }
}

TEST(DuetFile, KnowsWhatDryRunsSaid) {
  DuetFile file(false);
  Signals signals;
  DuetSupervisor(file.option(DuetSide::base), signals).say_any(true);
  EXPECT_TRUE(file.any(DuetSide::base));
  EXPECT_FALSE(file.any(DuetSide::now));
}

std::vector<std::string> one_launch(DuetSide first, const std::string& quads) {
  const auto second = first == DuetSide::base ? DuetSide::now : DuetSide::base;
  std::vector<std::string> all = {fmt::format("{} is set up", name_of(first)),
                                  fmt::format("{} is set up", name_of(second))};
  for (const auto outer : quads) {
    const char* a = outer == 'A' ? "base" : "new";
    const char* b = outer == 'A' ? "new" : "base";
    all.insert(all.end(), {a, b, b, a});
  }
  all.push_back(fmt::format("{} ends", name_of(first)));
  all.push_back(fmt::format("{} ends", name_of(second)));
  return all;
}

/// A rank of a duet gives up its own turns of the scheduler; the tests after it shall have theirs.
struct UsualScheduling {
  ~UsualScheduling() {
    const sched_param none{};
    ::sched_setscheduler(0, SCHED_OTHER, &none);
  }
};

// Two ranks of each side, in two launches.
TEST(DuetRank, WorksInTurnsOfItsNumber) {
  const UsualScheduling afterwards;
  constexpr int ranks = 2;
  DuetFile file(false);
  file.begin(DuetSide::base);
  Signals signals;
  std::vector<Diary> diaries(ranks);
  std::vector<std::string> expected;
  const auto of_rank = [&](DuetSide side, std::uint32_t number, int rank) {
    DuetRank duet(file.option(side), number, rank, long_enough);
    auto& diary = diaries[static_cast<std::size_t>(rank)];
    duet.begin_phase();
    diary.note(fmt::format("{} is set up", name_of(side)));
    const auto mine = side == DuetSide::base ? 3U : 5U;
    EXPECT_EQ(duet.exchange(std::uint64_t{mine}), (std::array<std::uint64_t, 2>{3, 5}));
    EXPECT_EQ(duet.exchange(0.5 * mine), (std::array{1.5, 2.5}));
    const auto drawn = duet.draw(20, "a metric");
    EXPECT_EQ(drawn.size(), 20U);
    EXPECT_NE(duet.draw(64, "a metric"), duet.draw(64, "another"));
    if (side == DuetSide::base && rank == 0) {
      const auto more = one_launch(duet.first(), drawn);
      expected.insert(expected.end(), more.begin(), more.end());
    }
    duet.blocks(drawn, [&] {
      duet.meet(1 - rank, rank == 0);
      diary.note(name_of(side));
    });
    diary.note(fmt::format("{} ends", name_of(side)));
    duet.end_phase();
  };
  on_both_sides([&](DuetSide side) {
    DuetSupervisor supervisor(file.option(side), signals);
    supervisor.begin();
    for (const std::uint32_t number : {0U, 1U}) {
      ASSERT_TRUE(supervisor.begin_launch(7));
      std::thread other([&] { of_rank(side, number, 1); });
      of_rank(side, number, 0);
      other.join();
      supervisor.end_launch();
    }
    supervisor.end();
  });
  for (const auto& diary : diaries) EXPECT_EQ(diary.all(), expected);
}

TEST(DuetRank, FailsWhenTheOtherSideIsGoneOrSlow) {
  const UsualScheduling afterwards;
  DuetFile file(false);
  const auto exit_of = [&](milliseconds limit) {
    DuetRank duet(file.option(DuetSide::base), 1, 0, limit);
    try {
      duet.begin_phase();
    } catch (const Failure& failure) {
      return failure.exit();
    }
    return Exit::done;
  };
  file.begin(DuetSide::base);
  EXPECT_EQ(exit_of(milliseconds(0)), Exit::lost);
  file.leave(DuetSide::now);
  EXPECT_EQ(exit_of(long_enough), Exit::cannot_run);
}

}  // namespace
}  // namespace ucxbench
