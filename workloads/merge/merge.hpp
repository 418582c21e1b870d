#pragma once

#include <array>
#include <cstdint>
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
#include "workloads/merge/exchange.hpp"
#include "workloads/merge/kernels.hpp"
#include "workloads/merge/parameters.hpp"

namespace ucxbench::merge {

/// What one rank does in one merge: both tables are partitioned by hash, every bucket goes to its
/// rank, and what has come is joined batch by batch while the next batches are under way.
class Merge {
 public:
  static constexpr std::array<Phase, 4> phases = {{{"partition", PhaseKind::computing},
                                                   {"shuffle", PhaseKind::waiting},
                                                   {"build", PhaseKind::computing},
                                                   {"probe", PhaseKind::computing}}};

  /// Generates the tables and makes all memory: everything that is not measured. All ranks call
  /// everything here together. Throws Failure.
  Merge(Communicator& comm, const Clock& clock, WorkloadMemory& memory, const Parameters& p);
  ~Merge();
  Merge(const Merge&) = delete;
  Merge& operator=(const Merge&) = delete;

  /// What messages are received into.
  std::vector<Buffer> received() const;

  /// The exchange alone, with the same messages: bytes of all ranks by the time they took.
  ExchangeAlone exchange_alone();

  /// One merge, between two barriers.
  Iteration run(std::uint32_t number, TransferLog* log);

  /// Compares this rank's part of the last merge with what it must be: what came against what the
  /// others sent, where it belongs, and what was joined. The first error in words, or nothing.
  std::string verify();

 private:
  struct ExchangedTable;  // one table with its way to the others

  void generate(ExchangedTable& side);
  void partition(ExchangedTable& side);
  void begin(ExchangedTable& side, std::uint32_t number, Injected injected);
  void wait_for(std::uint32_t batch);
  void progress();
  std::string lost_on_the_way();
  std::uint64_t misplaced_rows(const ExchangedTable& side);

  Communicator& comm_;
  const Clock& clock_;
  Parameters p_;
  Generator generator_;
  Spread spread_;
  std::unique_ptr<Kernels> kernels_;
  std::array<std::unique_ptr<ExchangedTable>, 2> sides_;
  std::optional<Buffer> joined_memory_;
  Joined joined_;
  Checksum expected_;  ///< of payloads without salt
  PhaseClock clock_of_phases_{phases};
};

}  // namespace ucxbench::merge
