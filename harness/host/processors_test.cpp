#include "harness/host/processors.hpp"

#include <gtest/gtest.h>
#include <sched.h>

#include <cstdlib>

#include "harness/topology/cpus.hpp"

namespace ucxbench {
namespace {

TEST(LookAtProcessors, SeesTwoAndMovesNobody) {
  const auto cpus = allowed_cpus();
  if (cpus.size() < 2) GTEST_SKIP() << "one processor";
  cpu_set_t before;
  sched_getaffinity(0, sizeof before, &before);
  std::optional<Processors> seen;
  // Another program may have one of them for all of the time.
  for (int attempt = 0; attempt < 50 && !seen; ++attempt) {
    seen = look_at_processors(cpus[0], cpus[1]);
  }
  cpu_set_t after;
  sched_getaffinity(0, sizeof after, &after);
  EXPECT_TRUE(CPU_EQUAL(&before, &after));
  double load = 0;
  const bool busy = ::getloadavg(&load, 1) == 1 && load >= 1;
  if (!seen && busy) GTEST_SKIP() << "other programs have the processors";
  ASSERT_TRUE(seen);
  EXPECT_GT(seen->apart_ns, 0);
  // No processor adds a hundred numbers in a nanosecond.
  EXPECT_GT(seen->work_ns, 10);
}

TEST(LookAtProcessors, SeesNothingWhereThereAreNoTwo) {
  const auto cpu = allowed_cpus().front();
  EXPECT_FALSE(look_at_processors(cpu, cpu));
  EXPECT_FALSE(look_at_processors(cpu, CPU_SETSIZE + 7));
  EXPECT_FALSE(look_at_processors(-1, cpu));
}

}  // namespace
}  // namespace ucxbench
