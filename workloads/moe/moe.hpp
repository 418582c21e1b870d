#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "harness/comm/communicator.hpp"
#include "harness/comm/flows.hpp"
#include "harness/core/clock.hpp"
#include "harness/core/pattern.hpp"
#include "workloads/common/calibration.hpp"
#include "workloads/common/iteration.hpp"
#include "workloads/common/memory.hpp"
#include "workloads/common/phases.hpp"
#include "workloads/moe/parameters.hpp"

namespace ucxbench::moe {

/// What one rank does in a run: tells every other how many of its tokens go there, sends them, and
/// gets them back from the experts.
class Moe {
 public:
  static constexpr std::array<Phase, 3> phases = {{{"counts", PhaseKind::exchanging},
                                                   {"dispatch", PhaseKind::exchanging},
                                                   {"combine", PhaseKind::exchanging}}};

  /// Makes all memory and tokens: everything that is not measured. All ranks call everything here
  /// together. Throws Failure.
  Moe(Communicator& comm, const Clock& clock, WorkloadMemory& memory, const Parameters& p);
  Moe(const Moe&) = delete;
  Moe& operator=(const Moe&) = delete;

  /// What messages are received into.
  std::vector<Buffer> received() const { return {buffers_[1], buffers_[2]}; }

  /// The same messages: bytes of all ranks by the time they took.
  ExchangeAlone exchange_alone();

  Iteration run(std::uint32_t number, TransferLog* log);

  /// Looks at every token that came, and that came back. The error in words, or nothing.
  std::string verify();

 private:
  enum class Step : std::uint64_t { counts, dispatch, combine, steps };

  /// Between this rank and another one.
  struct Peer {
    int rank = 0;
    std::vector<std::uint64_t> there{}, here{};   ///< numbers of this rank's tokens, and of its own
    std::span<std::byte> sent{}, came{}, back{};  ///< this rank's, its own, this rank's again
    std::uint64_t told = 0, heard = 0;            ///< how many
  };

  static std::uint64_t label(std::uint32_t number, Step step) {
    constexpr auto steps = static_cast<std::uint64_t>(Step::steps);
    return number % (flow_labels / steps) * steps + static_cast<std::uint64_t>(step);
  }
  std::uint64_t seed_of(std::uint64_t token) const { return token + mix64(run_); }
  void fill(const Peer& peer);
  void fill(std::uint32_t number);
  void exchange_counts(std::uint32_t number);
  void dispatch(std::uint32_t number);
  void combine(std::uint32_t number);
  void inject();
  std::string wrong(const Peer& peer, std::span<const std::byte> bytes,
                    const std::vector<std::uint64_t>& tokens, const char* which);

  Communicator& comm_;
  const Clock& clock_;
  Parameters p_;
  std::vector<Peer> peers_;  ///< the next rank first
  std::uint64_t run_ = 0;    ///< the number of the last one, which tokens' bytes depend on
  std::vector<Buffer> buffers_;
  std::uint64_t bytes_there_ = 0, bytes_here_ = 0;
  std::vector<std::byte> staged_;  ///< what is on a GPU, for looking at it
  PhaseClock clock_of_phases_{phases};
};

}  // namespace ucxbench::moe
