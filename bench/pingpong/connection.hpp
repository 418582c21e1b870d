#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bench/pingpong/loops.hpp"
#include "bench/pingpong/pair.hpp"
#include "bench/pingpong/parameters.hpp"
#include "harness/comm/endpoint.hpp"
#include "harness/comm/worker.hpp"
#include "harness/run/benchmark.hpp"

namespace ucxbench::pingpong {

struct ConnectionUse {
  std::string purpose;  ///< its name, which no other of this API, progress mode and launch has
  /// Each side sends one byte first. Without, the follower never sends: one byte is enough to
  /// change how the kernel acknowledges on a TCP connection from then on (docs/method/fidelity.md).
  bool meets = true;
  bool counts = false;  ///< UcxWorker's
};

/// A worker and its connection, with what it cost to make them. All ranks make and close theirs at
/// the same point of the plan.
class Connection {
 public:
  Connection(RankContext& context, Pair& pair, const Parameters& parameters,
             const ConnectionUse& use);

  /// What the worker counted.
  std::vector<ProtocolUse> close();

  UcxWorker& worker() { return *worker_; }
  Loops& loops() { return *loops_; }
  const Cold& cold() const { return cold_; }
  std::vector<std::string> lanes() const { return endpoint_->lanes(); }

 private:
  Pair& pair_;
  Cold cold_;
  Rendezvous::Progress progress_;
  std::optional<UcxWorker> worker_;
  std::optional<UcxEndpoint> endpoint_;
  std::unique_ptr<Loops> loops_;
};

}  // namespace ucxbench::pingpong
