#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "harness/comm/communicator.hpp"
#include "harness/core/clock.hpp"
#include "workloads/common/calibration.hpp"
#include "workloads/common/iteration.hpp"
#include "workloads/common/memory.hpp"
#include "workloads/common/phases.hpp"
#include "workloads/svd/factors.hpp"
#include "workloads/svd/matrix.hpp"
#include "workloads/svd/parameters.hpp"
#include "workloads/svd/tree.hpp"

namespace ucxbench::svd {

/// What one rank does in a run: the QR of its rows, factors up the tree, the SVD of the last one at
/// rank 0, and down the tree what makes left singular vectors of it.
class Svd {
 public:
  /// Makes all memory: everything that is not measured. All ranks call everything here together.
  /// Throws Failure.
  Svd(Communicator& comm, const Clock& clock, WorkloadMemory& memory, const Parameters& p);
  Svd(const Svd&) = delete;
  Svd& operator=(const Svd&) = delete;

  /// "local QR", one for each level of the tree, "SVD of R", "vectors", "shuffle".
  std::span<const Phase> phases() const { return phases_; }

  /// What messages are received into, and the vectors.
  std::vector<Buffer> received() const { return {buffers_[1], buffers_[2]}; }

  /// The same messages, up the tree and down: bytes of all ranks by the time they took.
  ExchangeAlone exchange_alone();

  Iteration run(std::uint32_t number, TransferLog* log);

  /// Compares all that was computed with the closed form. The error in words, or nothing.
  std::string verify();

 private:
  enum class Way : std::uint64_t { up, down };
  static constexpr std::uint64_t most_levels = 32;

  /// Of a child: what comes from it, and goes to it.
  struct Edge {
    std::span<double> triangle, c;
    Batch came;
  };

  static std::uint64_t label(std::uint32_t number, Way way, int level) {
    constexpr std::uint64_t numbers = label_count / 4 / (2 * most_levels);
    return (number % numbers * 2 + static_cast<std::uint64_t>(way)) * most_levels +
           static_cast<std::uint64_t>(level);
  }
  std::size_t phase_of(int level) const { return 1 + static_cast<std::size_t>(level); }
  std::size_t decomposing() const { return 1 + static_cast<std::size_t>(tree_.depth); }
  std::size_t applying() const { return decomposing() + 1; }
  std::size_t shuffling() const { return decomposing() + 2; }
  void enter(std::size_t phase) { clock_of_phases_.enter(phase, clock_.ticks()); }

  /// Posts the receives from all children.
  void expect_children(std::uint32_t number);
  void send_up(std::uint32_t number);
  void send_down(std::uint32_t number, std::size_t child);
  void climb(std::uint32_t number);
  void descend(std::uint32_t number);
  void inject(Edge& edge);
  std::uint64_t seed_of(int sender, Way way, int level) const;
  std::string wrong_in_places();
  Buffer part_at(std::span<double> place);
  std::uint64_t bytes_up() const { return triangle_.size_bytes(); }
  std::uint64_t bytes_down() const { return c_.size_bytes(); }
  std::string verify_root(std::vector<std::uint64_t>& signs);
  std::string verify_vectors(const std::vector<std::uint64_t>& signs);

  Communicator& comm_;
  const Clock& clock_;
  Parameters p_;
  Tree tree_;
  Matrix matrix_;
  Lapack::Shape shape_;
  std::vector<Buffer> buffers_;
  std::unique_ptr<Factors> factors_;
  std::span<double> triangle_, c_;  ///< to and from the parent
  std::vector<Edge> edges_;         ///< by child
  Batch sends_, given_;
  std::uint32_t alone_number_ = 0;  ///< of the last exchange alone
  std::vector<std::string> level_names_;
  std::vector<Phase> phases_;
  PhaseClock clock_of_phases_;
};

}  // namespace ucxbench::svd
