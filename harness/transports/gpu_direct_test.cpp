#include "harness/transports/gpu_direct.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace ucxbench {
namespace {

namespace fs = std::filesystem;
using State = Ability::State;

/// A machine's files, of which only the names matter.
class GpuDirect : public testing::Test {
 protected:
  GpuDirect() {
    std::string pattern = testing::TempDir() + "gpu-direct-XXXXXX";
    root_ = ::mkdtemp(pattern.data());
  }
  ~GpuDirect() override { fs::remove_all(root_); }

  void add(const fs::path& file) const {
    fs::create_directories((root_ / file).parent_path());
    std::ofstream(root_ / file) << "1\n";
  }
  void expect(const Ability& ability, State state, const std::string& words) const {
    EXPECT_EQ(ability.state, state) << ability.why;
    EXPECT_NE(ability.why.find(words), std::string::npos) << ability.why;
  }
  Ability rdma(const Variables& settings = {}) const {
    return gpu_direct_rdma(ucx_, settings, root_);
  }
  Ability mapped(const Variables& settings = {}) const { return gdr_copy(ucx_, settings, root_); }

  fs::path root_;
  UcxResources ucx_{.version = "1.22.0",
                    .headers = "1.22",
                    .library = "/opt/libucp.so.0",
                    .components = {"ib", "cuda_cpy"},
                    .resources = {{"ib", "rc_mlx5", "mlx5_0:1"}, {"cuda_cpy", "cuda_copy", "cuda"}},
                    .lockable_bytes = {},
                    .broken_modules = {}};
};

TEST_F(GpuDirect, IsActiveWhereADeviceRegistersGpuMemory) {
  add("sys/class/infiniband/mlx5_0/node_type");
  add("sys/module/nvidia_peermem/version");
  ucx_.registers_gpu_memory = {"mlx5_0"};
  expect(rdma(), State::active, "mlx5_0 registers GPU memory through nvidia_peermem");
  expect(rdma({{"UCX_IB_GPU_DIRECT_RDMA", "try"}}), State::active, "mlx5_0");
  expect(rdma({{"UCX_IB_GPU_DIRECT_RDMA", "n"}}), State::absent, "UCX_IB_GPU_DIRECT_RDMA=n");
}

TEST_F(GpuDirect, IsAbsentForTheFirstReasonThereIs) {
  expect(rdma(), State::absent, "no RDMA device");
  add("sys/class/infiniband/mlx5_0/node_type");
  expect(rdma(), State::absent, "neither nvidia_peermem nor nv_peer_mem is loaded");
  add("sys/kernel/mm/memory_peers/nv_mem/version");
  expect(rdma(), State::absent, "nv_mem is loaded, but UCX 1.22.0 registers no GPU memory");
  ucx_.resources.pop_back();
  expect(rdma(), State::absent, "finds no GPU");
  ucx_.components = {"cuda_cpy"};
  expect(rdma(), State::absent, "has no InfiniBand");
}

TEST_F(GpuDirect, IsNotClaimedForDmaBuf) {
  add("sys/class/infiniband/mlx5_0/node_type");
  ucx_.takes_dma_buf = {"mlx5_0"};
  expect(rdma(), State::unknown, "mlx5_0 takes dma-bufs");
}

TEST_F(GpuDirect, GdrCopyNeedsUcxAndTheDriver) {
  expect(mapped(), State::absent, "built without it");
  ucx_.components.emplace_back("gdr_copy");
  expect(mapped(), State::absent, "no driver (/dev/gdrdrv)");
  add("dev/gdrdrv");
  expect(mapped(), State::absent, "rights");
  ucx_.resources.push_back({"gdr_copy", "gdr_copy", "cuda"});
  expect(mapped(), State::active, "/dev/gdrdrv");
  expect(mapped({{"UCX_TLS", "tcp,cuda_copy,gdr_copy"}}), State::active, "/dev/gdrdrv");
  expect(mapped({{"UCX_TLS", "tcp,cuda_copy"}}), State::absent, "--gdr on");
}

}  // namespace
}  // namespace ucxbench
