#pragma once

#include <vector>

#include "harness/run/benchmark.hpp"
#include "harness/run/rank_frame.hpp"

namespace ucxbench {

/// One rank of a benchmark over a Communicator: measures the cases of its launch, one after the
/// other.
template <typename Parameters>
class RankOfCases {
 public:
  RankOfCases(const RankOfCases&) = delete;
  RankOfCases& operator=(const RankOfCases&) = delete;
  virtual ~RankOfCases() = default;

  void run() {
    frame_.report_rank();
    for (const auto& planned : cases_) {
      rendezvous_.barrier(frame_.waiting());
      measure(planned);
    }
    comm().close(rendezvous_);
  }

 protected:
  /// Derived classes allocate their memory and connect the frame.
  explicit RankOfCases(RankContext& context) : context_(context) {}

  /// All ranks call it together, as often as there are cases.
  virtual void measure(const PlannedCase<Parameters>& planned) = 0;
  Communicator& comm() { return frame_.comm(); }

  RankContext& context_;
  Rendezvous& rendezvous_ = context_.rendezvous();
  const std::vector<PlannedCase<Parameters>> cases_ = context_.cases<Parameters>();
  RankFrame frame_{context_, cases_.front().parameters};
};

}  // namespace ucxbench
