#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>

#include "harness/result/result.hpp"

namespace ucxbench {

/// A host's clock against the first host's, during one launch. Between what is known of its begin
/// and its end it is taken to drift evenly.
struct SeenClock {
  struct Seen {
    std::int64_t at_ns = 0;      ///< by the first host's clock
    std::int64_t offset_ns = 0;  ///< by which this one is ahead
    std::uint64_t uncertainty_ns = 0;
  };
  Seen begin{}, end{};

  /// Of a time by this clock, the time by the first host's.
  std::int64_t on_first(std::uint64_t ns) const;
  std::uint64_t uncertainty_ns() const;  ///< 0 of the first host's own
};

/// What a run knows of the clocks of its hosts (`clocks`).
class HostClocks {
 public:
  explicit HostClocks(const Result& result);

  /// The one of a rank in a launch of a case; empty where it is not known.
  std::optional<SeenClock> of(std::size_t case_index, int launch, int rank) const;

 private:
  std::string first_;
  std::map<int, std::string> hosts_;                                  ///< by rank
  std::map<std::size_t, std::map<int, std::string>> hosts_of_cases_;  ///< that have their own
  std::map<std::tuple<std::size_t, int, std::string>, SeenClock> known_;
};

}  // namespace ucxbench
