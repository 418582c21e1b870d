#include "harness/core/cgroups.hpp"

#include <gtest/gtest.h>

#include "harness/core/folder_for_test.hpp"

namespace ucxbench {
namespace {

class Cgroups : public FolderLikeSys {
 protected:
  std::vector<std::string> found(const std::string& controller) const {
    std::vector<std::string> folders;
    for (const auto& group : own_cgroups(controller, root_)) {
      folders.push_back(group.folder.lexically_relative(root_ / "sys/fs/cgroup").string());
    }
    return folders;
  }
  void make(const std::string& folder) const {
    std::filesystem::create_directories(root_ / "sys/fs/cgroup" / folder);
  }
};

using Folders = std::vector<std::string>;

TEST_F(Cgroups, OfVersion2AreOfAllControllers) {
  write("proc/self/cgroup", "0::/system.slice/job.scope");
  make("system.slice/job.scope");
  EXPECT_EQ(found("cpu"), (Folders{"system.slice/job.scope", "system.slice", "."}));
}

TEST_F(Cgroups, OfVersion1HaveAHierarchyForEachController) {
  write("proc/self/cgroup", "12:memory:/a\n4:cpu,cpuacct:/slurm/job_7\n1:name=systemd:/b");
  make("cpu/slurm/job_7");
  make("cpuacct/slurm/job_7");
  EXPECT_EQ(found("cpu"), (Folders{"cpu/slurm/job_7", "cpu/slurm", "cpu"}));
  EXPECT_EQ(found("systemd"), Folders());
}

TEST_F(Cgroups, OfBothVersions) {
  write("proc/self/cgroup", "1:cpu:/a\n0::/b");
  make("cpu/a");
  make("unified/b");
  EXPECT_EQ(found("cpu"), (Folders{"cpu/a", "cpu", "unified/b", "unified"}));
}

// What a container sees as the root may be anywhere in the host's hierarchy.
TEST_F(Cgroups, OfAContainerAreThoseThatItSees) {
  write("proc/self/cgroup", "0::/../other");
  make("");
  EXPECT_EQ(found("cpu"), Folders{"."});
  write("proc/self/cgroup", "1:cpu:/docker/1f2e");
  make("cpu");
  EXPECT_EQ(found("cpu"), Folders{"cpu"});
  write("proc/self/cgroup", "no such line");
  EXPECT_EQ(found("cpu"), Folders());
}

}  // namespace
}  // namespace ucxbench
