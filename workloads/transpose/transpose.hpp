#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "harness/comm/communicator.hpp"
#include "harness/core/clock.hpp"
#include "workloads/common/calibration.hpp"
#include "workloads/common/iteration.hpp"
#include "workloads/common/memory.hpp"
#include "workloads/common/phases.hpp"
#include "workloads/transpose/exchange.hpp"
#include "workloads/transpose/kernels.hpp"
#include "workloads/transpose/parameters.hpp"

namespace ucxbench::transpose {

/// What one rank does in one y = x + xᵀ: its tiles go to the ranks that have their columns as rows,
/// and what comes is added while other tiles are under way.
class Transpose {
 public:
  static constexpr std::array<Phase, 2> phases = {
      {{"add", PhaseKind::computing}, {"shuffle", PhaseKind::waiting}}};

  /// Generates x and makes all memory: everything that is not measured. All ranks call everything
  /// here together. Throws Failure.
  Transpose(Communicator& comm, const Clock& clock, WorkloadMemory& memory, const Parameters& p);
  Transpose(const Transpose&) = delete;
  Transpose& operator=(const Transpose&) = delete;

  /// The ring that messages are received into.
  std::vector<Buffer> received() const { return {buffers_[1]}; }

  /// The exchange alone, with the same messages: bytes of all ranks by the time they took.
  ExchangeAlone exchange_alone();

  /// One y = x + xᵀ, between two barriers.
  Iteration run(std::uint32_t number, TransferLog* log);

  /// Compares this rank's part of the last y with what it must be. The first error in words, or
  /// nothing.
  std::string verify();

 private:
  std::uint64_t own_tiles() const { return layout_.own_chunks(rank_) * layout_.chunks(); }
  std::uint64_t index_of(std::uint64_t i, std::uint64_t j) const {
    return (i - layout_.first_chunk(rank_)) * layout_.chunks() + j;
  }

  void stamp(std::uint32_t number);
  void begin_exchange(std::uint32_t number);
  void exchange(std::uint32_t number, const std::function<void(const Arrival&)>& take);
  std::string wrong_in(const Arrival& arrival);
  void step();
  void progress();
  void add(std::uint64_t i, std::uint64_t j, const double* t);
  void add_local(std::uint64_t i, std::uint64_t j);
  void add_arrived(const Arrival& arrival);

  Communicator& comm_;
  const Clock& clock_;
  Parameters p_;
  Layout layout_;
  std::uint64_t rank_;
  std::unique_ptr<Kernels> kernels_;
  std::vector<Buffer> buffers_;  ///< x, the ring, y
  double* x_ = nullptr;
  double* ring_ = nullptr;
  double* y_ = nullptr;  ///< null: only summed
  std::optional<Exchange> exchange_;
  bool to_inject_ = false;
  std::uint64_t stamp_ = 0;  ///< what the first element of each tile of x has more in this run
  std::vector<Checksum> expected_, made_;  ///< of this rank's tiles of y
  PhaseClock clock_of_phases_{phases};
};

}  // namespace ucxbench::transpose
