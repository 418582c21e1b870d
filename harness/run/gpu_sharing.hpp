#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harness/core/json.hpp"
#include "harness/launch/rendezvous.hpp"
#include "harness/memory/cuda_driver.hpp"

namespace ucxbench {

/// What a rank says of its GPU, for the others to compare; null without one.
Json gpu_here(const std::optional<CudaDevice>& gpu);

/// Whether two ranks, by what gpu_here said on each, use the same GPU. A GPU is known by its UUID
/// (an instance of MIG has its own), or by its PCI address where the driver does not say the UUID;
/// and by its machine, which is the kernel's boot id, or the host's name where there is none.
bool is_same_gpu(const Json& a, const Json& b);

/// The GPUs of all ranks of a launch, and what labels follow from who shares one.
class GpusOfRanks {
 public:
  /// All ranks call it once in a launch, either each with a GPU or all without.
  GpusOfRanks(Rendezvous& rendezvous, const std::optional<CudaDevice>& own,
              const Rendezvous::Progress& progress);
  /// Of what gpu_here said on each rank.
  explicit GpusOfRanks(std::vector<Json> by_rank) : by_rank_(std::move(by_rank)) {}

  /// What ranks do meanwhile that have no part in what is labelled.
  enum class Others { wait, work };

  /// The labels (result/labels.hpp) of what two ranks sent each other over these lanes.
  Json labels(int src, int dst, const std::vector<std::string>& lanes, Others others) const;

  /// The same of all ranks.
  Json labels(const std::vector<std::string>& lanes) const;

 private:
  std::vector<Json> by_rank_;  ///< empty without GPUs
};

}  // namespace ucxbench
