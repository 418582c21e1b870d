#include "harness/topology/host_state.hpp"

#include <gtest/gtest.h>

#include "harness/core/folder_for_test.hpp"

namespace ucxbench {
namespace {

namespace fs = std::filesystem;

class HostState : public FolderLikeSys {};

TEST_F(HostState, WhatTheKernelDoesNotSayIsNull) {
  const auto state = host_state(root_);
  for (const auto& [name, value] : state.items()) EXPECT_TRUE(value.is_null()) << name;
}

TEST_F(HostState, IsReadFromTheKernelsFiles) {
  fs::create_directories(root_ / "dev/shm");
  write("proc/sys/kernel/yama/ptrace_scope", "2");
  write("proc/sys/kernel/numa_balancing", "1");
  write("sys/devices/system/cpu/smt/active", "0");
  write("proc/sys/net/ipv4/tcp_rmem", "4096\t131072\t6291456");
  const auto state = host_state(root_);
  EXPECT_GT(state.at("shm_bytes"), 0);
  EXPECT_LE(state.at("shm_free_bytes"), state.at("shm_bytes"));
  EXPECT_EQ(state.at("ptrace_scope"), 2);
  EXPECT_EQ(state.at("numa_balancing"), true);
  EXPECT_EQ(state.at("smt"), false);
  EXPECT_EQ(state.at("kernel_settings").dump(), R"({"net.ipv4.tcp_rmem":"4096 131072 6291456"})");
}

TEST_F(HostState, TurboIsToldByEitherDriver) {
  write("sys/devices/system/cpu/cpufreq/boost", "1");
  EXPECT_EQ(host_state(root_).at("turbo"), true);
  write("sys/devices/system/cpu/intel_pstate/no_turbo", "1");
  EXPECT_EQ(host_state(root_).at("turbo"), false);
}

TEST_F(HostState, AQuotaIsInCpus) {
  write("proc/self/cgroup", "0::/");
  write("sys/fs/cgroup/cpu.max", "150000 100000");
  EXPECT_EQ(host_state(root_).at("cpu_quota"), 1.5);
  write("sys/fs/cgroup/cpu.max", "max 100000");
  EXPECT_TRUE(host_state(root_).at("cpu_quota").is_null());
  write("proc/self/cgroup", "1:cpu:/");
  write("sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000");
  write("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1");
  EXPECT_TRUE(host_state(root_).at("cpu_quota").is_null());
  write("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "400000");
  EXPECT_EQ(host_state(root_).at("cpu_quota"), 4);
}

TEST_F(HostState, TheLeastQuotaOfTheGroupsAroundCounts) {
  write("proc/self/cgroup", "0::/slice/job");
  write("sys/fs/cgroup/slice/job/cpu.max", "max 100000");
  write("sys/fs/cgroup/slice/cpu.max", "50000 100000");
  write("sys/fs/cgroup/cpu.max", "300000 100000");
  EXPECT_EQ(host_state(root_).at("cpu_quota"), 0.5);
  write("sys/fs/cgroup/slice/job/cpu.max", "25000 100000");
  EXPECT_EQ(host_state(root_).at("cpu_quota"), 0.25);
  write("proc/self/cgroup", "3:cpu,cpuacct:/slurm/job_7/step_0\n0::/");
  write("sys/fs/cgroup/cpu/slurm/job_7/step_0/cpu.cfs_quota_us", "-1");
  write("sys/fs/cgroup/cpu/slurm/job_7/cpu.cfs_quota_us", "200000");
  write("sys/fs/cgroup/cpu/slurm/job_7/cpu.cfs_period_us", "100000");
  EXPECT_EQ(host_state(root_).at("cpu_quota"), 2);
}

TEST(ThisHost, HasSharedMemory) { EXPECT_GT(host_state().at("shm_bytes"), 0); }

}  // namespace
}  // namespace ucxbench
