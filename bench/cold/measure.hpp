#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "bench/cold/messages.hpp"
#include "bench/cold/parameters.hpp"
#include "harness/comm/worker.hpp"

namespace ucxbench::cold {

/// Microseconds by metric, in the order measured.
using Figures = std::map<std::string, std::vector<double>>;

/// The memory of one case in one rank, which its messages with every peer use.
class CaseMemory {
 public:
  /// `known` has been used before and is as large as the largest case: messages of it go before
  /// each first message, and a pool has room for two like it.
  CaseMemory(const Parameters& parameters, Buffer& known, const UcxWorker& worker,
             const Clock& clock);

  /// Sends or receives what the case consists of. On rank 0, what that took, and what making the
  /// memory took.
  Figures measure(Messages& messages);

  /// A buffer for messages that are not timed.
  Buffer& spare();

 private:
  Figures measure_pool(Messages& messages);
  Figures measure_own(Messages& messages);
  Figures measure_fresh(Messages& messages);
  double first(Messages& messages, Buffer& buffer) const;
  std::vector<double> steady(Messages& messages, Buffer& buffer) const;
  double us_since(std::uint64_t start) const { return clock_.us(clock_.ticks() - start); }

  const Parameters& p_;
  Buffer& known_;
  const Clock& clock_;
  Figures once_;
  std::optional<Buffer> first_, second_;
};

}  // namespace ucxbench::cold
