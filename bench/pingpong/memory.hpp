#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "bench/pingpong/parameters.hpp"
#include "harness/comm/link.hpp"
#include "harness/memory/buffer.hpp"
#include "harness/memory/cuda_driver.hpp"

namespace ucxbench::pingpong {

/// A rank's GPU, if it needs one, and its buffers: two that serve every size, or with --no-pool two
/// new ones for each.
class PairMemory {
 public:
  /// Makes the CUDA context; `largest` of the sizes to come. Throws Failure.
  PairMemory(const Parameters& parameters, int rank_on_machine, std::uint64_t largest);

  /// To send from and to receive into, of at least `bytes`.
  std::pair<Buffer&, Buffer&> buffers(std::uint64_t bytes);

  /// The form of a case's messages, with memory for their headers, whose contents are left.
  MessageForm form_of(const Parameters& parameters);

  std::optional<CudaDevice> gpu() const { return device_of(context_); }

 private:
  bool pooled_;
  MemoryKind send_kind_, receive_kind_;
  std::optional<CudaContext> context_;
  std::map<MemoryKind, MemoryPool> pools_;
  std::optional<Buffer> send_, receive_;
  std::optional<Buffer> header_, received_header_;
};

}  // namespace ucxbench::pingpong
