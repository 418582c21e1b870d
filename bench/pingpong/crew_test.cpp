#include "bench/pingpong/crew.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <stdexcept>
#include <thread>

namespace ucxbench::pingpong {
namespace {

const Crew::Work nothing = [](std::size_t) {};

TEST(Crew, AllAreThereBeforeOneIsDone) {
  Crew crew(3);
  for (int run = 0; run < 20; ++run) {
    std::atomic<int> there{0};
    // Each waits for the others: one after the other, they would never end.
    crew.run(
        [&](std::size_t) {
          ++there;
          while (there != 3) std::this_thread::yield();
        },
        nothing);
    EXPECT_EQ(there, 3);
  }
}

TEST(Crew, TheCallerIsTheFirst) {
  Crew crew(2);
  std::array<std::thread::id, 2> ids;
  crew.run([&](std::size_t thread) { ids.at(thread) = std::this_thread::get_id(); }, nothing);
  EXPECT_EQ(ids[0], std::this_thread::get_id());
  EXPECT_NE(ids[1], ids[0]);
}

TEST(Crew, OneThatIsDoneServesTheOthers) {
  Crew crew(2);
  std::atomic<bool> served{false};
  crew.run(
      [&](std::size_t thread) {
        while (thread == 0 && !served) std::this_thread::yield();
      },
      [&](std::size_t thread) {
        if (thread == 1) served = true;
      });
  EXPECT_TRUE(served);
}

TEST(Crew, AFailureOfAnyThreadIsTheCallers) {
  Crew crew(3);
  EXPECT_THROW(crew.run(
                   [&](std::size_t thread) {
                     if (thread == 2) throw std::runtime_error("no");
                     while (!crew.failed()) std::this_thread::yield();
                   },
                   nothing),
               std::runtime_error);
}

}  // namespace
}  // namespace ucxbench::pingpong
