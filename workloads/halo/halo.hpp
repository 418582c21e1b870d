#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "harness/comm/communicator.hpp"
#include "harness/core/clock.hpp"
#include "workloads/common/calibration.hpp"
#include "workloads/common/iteration.hpp"
#include "workloads/common/memory.hpp"
#include "workloads/common/phases.hpp"
#include "workloads/halo/grid.hpp"
#include "workloads/halo/kernels.hpp"
#include "workloads/halo/parameters.hpp"

namespace ucxbench::halo {

/// What one rank does in the steps of one run: the edges of its tile go to its four neighbours, the
/// inside is computed while they are under way, then the elements on the edges.
class Halo {
 public:
  static constexpr std::array<Phase, 3> phases = {{{"pack", PhaseKind::computing},
                                                   {"stencil", PhaseKind::computing},
                                                   {"shuffle", PhaseKind::waiting}}};

  /// Makes all memory: everything that is not measured. All ranks call everything here together.
  /// Throws Failure.
  Halo(Communicator& comm, const Clock& clock, WorkloadMemory& memory, const Parameters& p);
  Halo(const Halo&) = delete;
  Halo& operator=(const Halo&) = delete;

  /// Both arrays, around whose tiles rows come to, and the columns.
  std::vector<Buffer> received() const { return {buffers_[0], buffers_[1], buffers_[3]}; }

  /// The exchange alone, with the same messages: bytes of all ranks by the time they took.
  ExchangeAlone exchange_alone();

  /// All steps from the beginning, between two barriers.
  Iteration run(std::uint32_t number, TransferLog* log);

  /// Compares this rank's tile with the closed form. The error in words, or nothing.
  std::string verify();

 private:
  void begin_exchange(std::uint64_t step);
  void wait();
  void compute(Part part);
  void inject();
  void make_waves(std::uint32_t number);
  void progress();
  double* received(Side side);
  const double* sent(Side side) const;
  Buffer part_at(const double* elements) const;
  std::uint64_t sent_bytes() const;

  Communicator& comm_;
  const Clock& clock_;
  Parameters p_;
  Grid grid_;
  Tile tile_;
  std::unique_ptr<Kernels> kernels_;
  std::vector<Buffer> buffers_;  ///< u, v, waves, columns
  std::vector<double> waves_;
  double* u_ = nullptr;  ///< of the step that is on
  double* v_ = nullptr;  ///< of the next one
  Expected expected_;
  /// Columns without gaps, `edge` elements each: to send by side, then received from each side.
  std::array<double*, 2> sent_columns_{}, received_columns_{};
  Batch sends_, receives_;
  std::uint32_t alone_number_ = 0;  ///< of the last exchange alone
  PhaseClock clock_of_phases_{phases};
};

}  // namespace ucxbench::halo
