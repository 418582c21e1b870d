#include "harness/topology/cpus.hpp"

#include <gtest/gtest.h>
#include <sched.h>

#include <set>

namespace ucxbench {
namespace {

TEST(Cpus, AreThoseOfTheAffinityMask) {
  cpu_set_t mask;
  ASSERT_EQ(sched_getaffinity(0, sizeof mask, &mask), 0);
  const auto cpus = allowed_cpus();
  EXPECT_EQ(static_cast<int>(cpus.size()), CPU_COUNT(&mask));
  EXPECT_EQ(std::set<int>(cpus.begin(), cpus.end()).size(), cpus.size());
  for (const int cpu : cpus) EXPECT_TRUE(CPU_ISSET(cpu, &mask)) << cpu;
}

TEST(Bind, OneCpuEachOrNoneWhenThereAreTooFew) {
  const auto cpus = static_cast<int>(allowed_cpus().size());
  const auto fits = bind_automatically(cpus);
  std::set<int> used;
  for (const auto& set : fits) {
    ASSERT_EQ(set.size(), 1U);
    used.insert(set[0]);
  }
  EXPECT_EQ(static_cast<int>(used.size()), cpus);
  for (const auto& set : bind_automatically(cpus + 1)) EXPECT_TRUE(set.empty());
}

TEST(Host, SaysWhatItKnowsAndNullOtherwise) {
  const auto host = describe_host();
  EXPECT_FALSE(host.at("name").get<std::string>().empty());
  EXPECT_GE(host.at("cores").get<int>(), 1);
  EXPECT_GT(host.at("memory_bytes").get<std::uint64_t>(), 1U << 20U);
  EXPECT_EQ(machine_id(host), machine_id(describe_host()));
}

TEST(Host, KnowsAnEmulatedProcessor) {
  EXPECT_TRUE(is_emulated_cpu("QEMU TCG CPU version 2.5+", ""));
  EXPECT_TRUE(is_emulated_cpu("Intel Core Processor (Haswell)", "TCGTCGTCGTCG"));
  EXPECT_FALSE(is_emulated_cpu("Intel Core Processor (Haswell)", "KVMKVMKVM"));
  EXPECT_FALSE(is_emulated_cpu("AMD EPYC 9554 64-Core Processor", ""));
}

}  // namespace
}  // namespace ucxbench
