#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "harness/comm/communicator.hpp"
#include "harness/memory/buffer.hpp"
#include "workloads/common/injected.hpp"
#include "workloads/merge/kernels.hpp"
#include "workloads/merge/spread.hpp"

namespace ucxbench::merge {

/// How the rows of a block travel: in one message, or as dataframe frameworks send them, a header
/// and each column as a frame of its own.
enum class Framing { contiguous, frames };

/// One table of one iteration on its way from every rank to every other. What is this rank's own
/// stays where it is.
class Exchange {
 public:
  struct Setup {
    Spread spread;
    std::uint32_t columns = 2;
    Side side = Side::build;
    MemoryKind memory = MemoryKind::host;
    Framing framing = Framing::contiguous;
    std::uint32_t iteration = 0;
    Injected injected = Injected::nothing;
  };

  Exchange(Communicator& comm, const Setup& setup);
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;

  /// Tells every peer how many rows of which bucket it gets, and sends them, batch by batch, to
  /// rank + 1 first. `words` is the partitioned table, in the order of `bucket_rows`; received rows
  /// go to `room`, where those of each rank begin at `room_rows`, the last of which is the end.
  void begin(std::uint64_t* words, const std::vector<std::uint64_t>& bucket_rows,
             std::uint64_t* room, const std::vector<std::uint64_t>& room_rows);

  /// Posts the receives of the rows of those whose counts have come; a step of whoever progresses.
  void poll();

  bool arrived(std::uint32_t batch) const { return uncounted_.empty() && receives_[batch].done(); }
  bool sent() const { return sends_.done(); }

  /// Makes the mistake that Setup::injected names, if it is one of the receiver's (rank 1 makes
  /// it).
  void corrupt_key();

  /// The rows of one part of an arrived batch, rank by rank.
  std::vector<Rows> part(std::uint32_t batch, std::uint32_t part) const;
  /// The whole of what `from` sent in a batch, or `to` was sent.
  Rows received(std::uint32_t from, std::uint32_t batch) const;
  Rows outgoing(std::uint32_t to, std::uint32_t batch) const;

  /// Whether it says, of what has come from there, how long the frames are; true without frames.
  bool has_right_header(std::uint32_t from, std::uint32_t batch) const;

  std::uint64_t bytes_sent() const { return bytes_sent_; }
  std::uint64_t bytes_received() const { return bytes_received_; }

 private:
  enum Kind : std::uint64_t { counts = 0, rows = 1, header = 2 };
  std::uint64_t label(Kind kind, std::uint32_t batch, std::uint32_t frame) const;
  std::uint32_t rank() const { return static_cast<std::uint32_t>(comm_.rank()); }

  void send_block(std::uint32_t to, std::uint32_t batch);
  void post_receives(std::uint32_t from);

  Communicator& comm_;
  Setup setup_;
  std::uint64_t* words_ = nullptr;
  std::uint64_t* room_ = nullptr;
  std::vector<std::uint64_t> room_rows_;
  std::vector<std::uint64_t> bucket_rows_;
  std::vector<Block> outgoing_;  ///< by rank and batch
  std::vector<Block> incoming_;  ///< by rank and batch; first_row counts within the room
  /// By rank: rows of this rank's buckets there.
  std::vector<std::vector<std::uint64_t>> counts_;
  std::vector<std::uint64_t> headers_, arrived_headers_;
  std::vector<Batch> count_receives_;     ///< by rank
  std::vector<std::uint32_t> uncounted_;  ///< ranks whose rows are not awaited yet
  std::vector<Batch> receives_;           ///< by batch
  Batch sends_;
  std::uint64_t bytes_sent_ = 0, bytes_received_ = 0;
};

}  // namespace ucxbench::merge
