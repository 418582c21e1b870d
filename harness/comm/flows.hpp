#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "harness/comm/communicator.hpp"
#include "harness/core/clock.hpp"

namespace ucxbench {

/// Labels of flows are below this: far more than are under way at once.
inline constexpr std::uint64_t flow_labels = label_count / 4;

/// Messages of equal size to one rank, all from one place.
struct FlowTo {
  int rank = 0;
  std::span<const std::byte> message;
  std::uint64_t messages = 1;
};

/// The same from one rank, all into one place.
struct FlowFrom {
  int rank = 0;
  std::span<std::byte> place;
  std::uint64_t messages = 1;
};

/// An irregular all-to-all: of a matrix of how much each rank has for each other, this rank's row
/// and column. All flows are under way at once, each with at most a window of messages; they are
/// begun in the order given. Sender and receiver know how many messages of which size there are.
/// There are no flows to a rank itself, and between two ranks at most one in each direction.
///
/// `halo` and `merge` do not use it, but post to the Communicator themselves: halo waits for what
/// it receives, computes, and only then waits for what it sent, with two edges between the same two
/// ranks in a small grid; merge posts its receives when the row counts of a rank have come, and
/// uses each batch while later ones are under way.
class Flows {
 public:
  /// `label`: of the first message of each flow; further ones count up, below flow_labels, and then
  /// begin again.
  Flows(Communicator& comm, const Clock& clock, const std::vector<FlowTo>& to,
        const std::vector<FlowFrom>& from, int window, std::uint64_t label);
  Flows(const Flows&) = delete;
  Flows& operator=(const Flows&) = delete;

  /// Posts what the windows allow; a step of whoever progresses.
  void step();
  bool over() const { return open_ == 0; }

  /// Returns when all has come, and all that was sent is the device's or the receiver's.
  void finish() {
    for (step(); !over(); step()) comm_.wait_a_step();
  }

  /// Messages that have come, of all flows.
  std::uint64_t came() const;
  /// Ticks of the clock when the last message of the n-th flow from a rank had come, as the step
  /// after it saw; 0: not yet.
  std::uint64_t ended(std::size_t from) const { return from_[from].ended; }

 private:
  template <typename Flow>
  struct Running {
    Flow flow;
    std::uint64_t posted = 0, ended = 0;
    Batch batch{};
  };
  template <typename Flow, typename Post>
  void step(Running<Flow>& running, Post post);

  Communicator& comm_;
  const Clock& clock_;
  std::vector<Running<FlowTo>> to_;
  std::vector<Running<FlowFrom>> from_;
  std::size_t window_;
  std::uint64_t label_;
  std::size_t open_ = 0;  ///< flows that have not ended
};

}  // namespace ucxbench
