#include <algorithm>
#include <utility>

#include "workloads/common/cuda_work.hpp"
#include "workloads/halo/cuda_arguments.hpp"
#include "workloads/halo/kernels.hpp"

extern "C" const unsigned char halo_kernels[];  // the fat binary of cuda_kernels.cu

namespace ucxbench::halo {
namespace {

class CudaKernels : public Kernels {
 public:
  CudaKernels(Progress progress, std::uint64_t most_blocks)
      : work_(halo_kernels, 1, std::move(progress)), most_blocks_(most_blocks) {}

  void start(const Tile& tile, const Waves& waves, double* u) override {
    work_.launch(grid_for(tile.stride()), StartArguments{.tile = tile, .waves = waves, .u = u});
    work_.finish();
  }

  void pack(const Tile& tile, const double* u, double* west, double* east) override {
    work_.launch(grid_for_edges(tile),
                 PackArguments{.tile = tile, .u = u, .west = west, .east = east});
    work_.finish();
  }

  void unpack(const Tile& tile, const double* west, const double* east, double* u) override {
    work_.launch(grid_for_edges(tile),
                 UnpackArguments{.tile = tile, .west = west, .east = east, .u = u});
    work_.finish();
  }

  void step(const Tile& tile, const double* u, double* v, Part part) override {
    const auto edge = tile.edge;
    if (part == Part::edges) {
      work_.launch(grid_for_edges(tile), StepEdgesArguments{.tile = tile, .u = u, .v = v});
    } else if (part == Part::all) {
      launch_block({tile, u, v, 0, edge, 0, edge});
    } else if (edge > 2) {
      launch_block({tile, u, v, 1, edge - 2, 1, edge - 2});
    }
    work_.finish();
  }

  std::uint64_t wrong(const Tile& tile, const double* u, const Expected& expected) override {
    const auto found = work_.with_words({0}, [&](std::uint64_t* count) {
      work_.launch(grid_for(tile.edge),
                   WrongArguments{.tile = tile, .u = u, .expected = expected, .found = count});
    });
    return found.front();
  }

 private:
  // Blocks that go on to another row.
  CudaGrid grid_for(std::uint64_t rows) const {
    return {.blocks = static_cast<unsigned>(std::min(rows, most_blocks_)),
            .threads = block_threads};
  }
  CudaGrid grid_for_edges(const Tile& tile) const {
    return grid_for((tile.edge + block_threads - 1) / block_threads);
  }
  void launch_block(const StepArguments& block) { work_.launch(grid_for(block.rows), block); }

  CudaWork work_;
  std::uint64_t most_blocks_;
};

}  // namespace

std::string why_no_cuda_kernels() { return ""; }

std::unique_ptr<Kernels> make_cuda_kernels(Kernels::Progress progress, std::uint64_t most_blocks) {
  return std::make_unique<CudaKernels>(std::move(progress), most_blocks);
}

}  // namespace ucxbench::halo
