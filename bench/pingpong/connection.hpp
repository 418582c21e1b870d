#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "bench/pingpong/loops.hpp"
#include "bench/pingpong/pair.hpp"
#include "bench/pingpong/pair_device.hpp"
#include "bench/pingpong/parameters.hpp"
#include "harness/launch/environment.hpp"
#include "harness/run/benchmark.hpp"

namespace ucxbench::pingpong {

struct ConnectionUse {
  std::string
      purpose;  ///< its name, which no other of the same name_of_connection() and launch has
  /// Each side sends one byte first. Without, the follower never sends: one byte is enough to
  /// change how the kernel acknowledges on a TCP connection from then on (docs/method/fidelity.md).
  bool meets = true;
  bool counts = false;   ///< UcxWorker's
  Variables settings{};  ///< UcxWorker's
};

/// What a connection depends on, in words: cases with the same words share one.
std::string name_of_connection(const Parameters& parameters);

/// The connection of a pair, with what it cost to make. All ranks make and close theirs at the same
/// point of the plan.
class Connection {
 public:
  Connection(RankContext& context, Pair& pair, const Parameters& parameters,
             const ConnectionUse& use);

  /// What its device counted.
  std::vector<ProtocolUse> close();

  Loops& loops() { return *loops_; }
  const Cold& cold() const { return cold_; }
  std::vector<std::string> lanes() const { return device_->lanes(); }
  const PairDevice& device() const { return *device_; }
  const std::map<std::string, std::string>& effective() const { return device_->effective(); }

 private:
  Pair& pair_;
  Cold cold_;
  std::unique_ptr<PairDevice> device_;
  std::unique_ptr<Loops> loops_;
};

}  // namespace ucxbench::pingpong
