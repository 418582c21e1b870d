#pragma once

#include <optional>
#include <span>

namespace ucxbench::p2p {

/// A stream among all of a run, on a time axis that all share, as far as that is known.
struct Span {
  double begin_ns = 0, end_ns = 0;
  double earlier_ns = 0;  ///< both may have been earlier by up to that
  double bytes = 0;       ///< that came between them
};

/// What streams were together.
struct Together {
  double common_ns = 0;  ///< all of them were under way, at least; 0 if they never were
  double span_ns = 0;    ///< from the first one's begin to the last one's end, at most
  double bytes = 0;

  /// All bytes by the whole span: never more than what was carried, whatever the overlap. Nothing
  /// where all were under way in less than four fifths of it: what did not happen together has no
  /// sum.
  std::optional<double> GBps() const;
};

/// Of one stream at least.
Together together_of(std::span<const Span> streams);

}  // namespace ucxbench::p2p
