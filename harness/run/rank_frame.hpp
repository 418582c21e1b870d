#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "harness/comm/communicator.hpp"
#include "harness/memory/buffer.hpp"
#include "harness/memory/cuda_driver.hpp"
#include "harness/run/benchmark.hpp"
#include "harness/run/place.hpp"

namespace ucxbench {

/// What a rank has of every benchmark that runs over a Communicator: its GPU, if it needs one, and
/// the connections with all others.
class RankFrame {
 public:
  /// Makes the CUDA context, if one is needed: before UCX starts. `place` is that of all cases of
  /// the launch, and outlives this. Throws Failure, as all here does.
  RankFrame(RankContext& context, const Place& place);

  /// Connects all ranks, which all call it, by the place's device or by another one. Memory is best
  /// allocated before.
  void connect();
  void connect(std::unique_ptr<CommDevice> device);
  CommSetup setup() const;
  Communicator& comm() { return *comm_; }

  /// The facts of this rank for `ranks[]`.
  void report_rank();

  int launch() const { return context_.plan().at("launch").get<int>(); }

  /// For who waits in the rendezvous and has no part in what is measured: leaves its processor to
  /// those who have.
  const Rendezvous::Progress& waiting() const { return waiting_; }

 private:
  RankContext& context_;
  const Place& place_;
  std::optional<CudaContext> gpu_;
  std::optional<Communicator> comm_;
  Rendezvous::Progress waiting_ = [this] { comm_->rest(context_.rendezvous()); };
};

/// A place to send from and `places` to receive into, of `bytes` each, cut from a pool for each of
/// the two.
struct MessageBuffers {
  MessageBuffers(const Place& place, std::uint64_t bytes, std::size_t places);

  std::vector<Buffer> receive{};
  Buffer send;
};

}  // namespace ucxbench
