#include <algorithm>
#include <utility>

#include "workloads/common/cuda_work.hpp"
#include "workloads/transpose/cuda_arguments.hpp"
#include "workloads/transpose/kernels.hpp"

extern "C" const unsigned char transpose_kernels[];  // the fat binary of cuda_kernels.cu

namespace ucxbench::transpose {
namespace {

CudaGrid grid_of_squares(const Tile& tile) {
  return {.blocks = cuda_squares(tile), .threads = block_threads};
}

class CudaKernels : public Kernels {
 public:
  CudaKernels(Progress progress, std::uint64_t most_blocks)
      : work_(transpose_kernels, 2, std::move(progress)), most_blocks_(most_blocks) {}

  void generate(std::uint64_t size, const Tile& tile, double* x) override {
    work_.launch(grid_for(tile.rows), GenerateArguments{.size = size, .tile = tile, .x = x});
    work_.finish();
  }

  void add(const Tile& tile, const double* x, const double* t, double* y) override {
    work_.launch(grid_of_squares(tile), AddArguments{.tile = tile, .x = x, .t = t, .y = y});
    work_.finish();
  }

  void add_both(const Tile& tile, const double* x, const double* t, double* y, double* u) override {
    work_.launch(grid_of_squares(tile),
                 AddBothArguments{.tile = tile, .x = x, .t = t, .y = y, .u = u});
    work_.finish();
  }

  Checksum add_to_sum(const Tile& tile, const double* x, const double* t) override {
    return summed([&](std::uint64_t* sum) {
      work_.launch(grid_for(cuda_squares(tile)),
                   AddToSumArguments{.tile = tile, .x = x, .t = t, .sum = sum});
    });
  }

  Checksum checksum(const Tile& tile, const double* y) override {
    return summed([&](std::uint64_t* sum) {
      work_.launch(grid_for(tile.rows), ChecksumArguments{.tile = tile, .y = y, .sum = sum});
    });
  }

 private:
  // Blocks that go on to another row or square.
  CudaGrid grid_for(std::uint64_t parts) const {
    return {.blocks = static_cast<unsigned>(std::min(parts, most_blocks_)),
            .threads = block_threads};
  }

  template <typename Queue>
  Checksum summed(Queue queue) {
    const auto words = work_.with_words({0, 0}, queue);
    return {.sum = words[0], .weighted = words[1]};
  }

  CudaWork work_;
  std::uint64_t most_blocks_;
};

}  // namespace

std::string why_no_cuda_kernels() { return ""; }

std::unique_ptr<Kernels> make_cuda_kernels(Kernels::Progress progress, std::uint64_t most_blocks) {
  return std::make_unique<CudaKernels>(std::move(progress), most_blocks);
}

}  // namespace ucxbench::transpose
