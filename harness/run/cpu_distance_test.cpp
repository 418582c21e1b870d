#include "harness/run/cpu_distance.hpp"

#include <gtest/gtest.h>
#include <sched.h>

#include <chrono>

#include "harness/topology/cpus.hpp"

namespace ucxbench {
namespace {

TEST(CpuDistance, IsPositiveBetweenTwoProcessorsAndMovesNobody) {
  const auto cpus = allowed_cpus();
  if (cpus.size() < 2) GTEST_SKIP() << "one processor";
  cpu_set_t before;
  sched_getaffinity(0, sizeof before, &before);
  std::optional<double> distance;
  // Another program may have one of them for all of the time.
  for (int attempt = 0; attempt < 50 && !distance; ++attempt) {
    distance = cpu_to_cpu_ns(cpus[0], cpus[1]);
  }
  ASSERT_TRUE(distance);
  EXPECT_GT(*distance, 0);
  cpu_set_t after;
  sched_getaffinity(0, sizeof after, &after);
  EXPECT_TRUE(CPU_EQUAL(&before, &after));
}

TEST(CpuDistance, IsUnknownWhereItCannotBeMeasured) {
  const auto cpu = allowed_cpus().front();
  EXPECT_FALSE(cpu_to_cpu_ns(cpu, cpu));
  EXPECT_FALSE(cpu_to_cpu_ns(cpu, CPU_SETSIZE + 7));
  EXPECT_FALSE(cpu_to_cpu_ns(-1, cpu));
}

}  // namespace
}  // namespace ucxbench
