#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "harness/comm/communicator.hpp"
#include "workloads/transpose/layout.hpp"

namespace ucxbench::transpose {

/// A tile that has come: x's tile (i, j) of another rank, j being a chunk row of this one.
struct Arrival {
  std::uint64_t i = 0, j = 0;
  double* elements = nullptr;
  std::size_t slot = 0;
};

/// The tiles of one iteration on their way from every rank to every other. Sender and receiver go
/// through the messages in one order: the first tile of each pair, to rank + 1 first, then the
/// second of each; so the next message that a rank sends is one whose receiver will come to it.
class Exchange {
 public:
  /// Posts a receive for each of the ring's `slots`, which are as large as a whole tile, and sends
  /// at most as many tiles of `x` at a time.
  Exchange(Communicator& comm, const Layout& layout, std::uint32_t iteration, const double* x,
           double* ring, std::uint64_t slots);
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;

  /// Sends what may be sent next; a step of whoever progresses.
  void poll();

  /// A tile that is there and was not taken yet.
  std::optional<Arrival> next();
  /// Its slot is free for another one.
  void release(const Arrival& arrival);

  bool all_arrived();  ///< whether taken or not
  /// When all are taken: what is still in the ring.
  std::vector<Arrival> last_of_each_slot() const;
  bool all_taken() const { return taken_ == to_come_; }
  bool sent() const { return to_send_ == sent_ && sends_.done(); }

 private:
  /// A place in the order of messages: the `number`-th tile to or from the rank `distance` on.
  struct Place {
    std::uint64_t number = 0, distance = 1;
  };
  struct Slot {
    Batch receive;
    Arrival tile;
  };

  void advance(Place& place) const;
  std::uint64_t label(std::uint64_t number) const;
  void post(std::size_t slot);
  void look();

  Communicator& comm_;
  Layout layout_;
  std::uint64_t rank_;
  std::uint32_t iteration_;
  const double* x_;
  double* ring_;
  std::vector<Slot> slots_;
  /// By rank, in the order in which they were posted, which is that in which tiles come: to look
  /// for what has come then takes one look at each rank, whatever the number of slots.
  std::vector<std::deque<std::size_t>> awaited_;
  std::deque<std::size_t> arrived_;  ///< and not taken yet
  Batch sends_;
  Place next_send_, next_receive_;
  std::uint64_t to_send_, to_come_;
  std::uint64_t sent_ = 0, posted_ = 0, taken_ = 0;
};

}  // namespace ucxbench::transpose
