#pragma once

#include <cstdint>
#include <functional>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "harness/result/result.hpp"
#include "harness/result/transfers.hpp"
#include "harness/run/benchmark.hpp"

namespace ucxbench {

/// A case while a rank measures it. When the user ends the run in the middle of a sample, what this
/// rank has finished of the case is reported by another thread.
class CaseUnderWay {
 public:
  struct Finished {
    std::vector<LaunchRecord> records{};  ///< the run drops those that it has already
    Verified verified{};
    std::string error{};  ///< what was wrong with the data, if anything
    std::uint64_t peak_bytes = 0;
    std::span<const Transfer> transfers{};
  };

  /// `finished` reads nothing that is changed without `change`.
  CaseUnderWay(RankContext& context, std::size_t index, std::function<Finished()> finished);
  ~CaseUnderWay();
  CaseUnderWay(const CaseUnderWay&) = delete;
  CaseUnderWay& operator=(const CaseUnderWay&) = delete;

  /// Once what there was has been reported, this waits for the end of the process.
  std::unique_lock<std::mutex> change() { return std::unique_lock(mutex_); }

 private:
  RankContext& context_;
  std::mutex mutex_;
};

}  // namespace ucxbench
