#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "harness/core/json.hpp"
#include "harness/result/result.hpp"

namespace ucxbench {

/// What was measured of one message size, in microseconds: one way, a further message of a train,
/// and what it takes of the sender's and the receiver's time.
struct LogGPPoint {
  double bytes = 1;
  double latency_us = 0, message_us = 0, send_us = 0, receive_us = 0;
};

/// The parameters of the LogGP model (Alexandrov, Ionescu, Schauser and Scheiman, LogGP:
/// Incorporating Long Messages into the LogP Model, SPAA 1995) for a range of sizes that goes by
/// one protocol. A message of s bytes arrives o_s + L + (s − 1)·G + o_r after it was begun, and
/// further ones g + (s − 1)·G later each.
struct LogGP {
  double L_us = 0;  ///< below 0 where what sender and receiver do overlaps
  double o_s_us = 0, o_r_us = 0, g_us = 0;
  double G_us = 0;  ///< for each byte

  double latency_us(double bytes) const { return L_us + o_s_us + o_r_us + (bytes - 1) * G_us; }
  double message_us(double bytes) const { return g_us + (bytes - 1) * G_us; }
};

/// Of points in the order of their sizes, two at least: G and g from the line through the times of
/// trains, with the least squares of relative errors (neither is below 0); o_s and o_r their
/// medians; L what is then left of the latency.
LogGP fitted(const std::vector<LogGPPoint>& points);

/// Where ranges begin, that of the first one among them: so many, up to six of three points or
/// more, that one more explains no more than chance (the Bayesian information criterion: Schwarz,
/// Estimating the Dimension of a Model, 1978), and where the errors are least (Bellman and Roth,
/// Curve Fitting by Segmented Straight Lines, 1969).
std::vector<std::size_t> ranges_of(const std::vector<LogGPPoint>& points);

/// For the run file: of each table of `loggp` its ranges with the parameters in nanoseconds, 95 %
/// intervals over launches, and for each size what was measured, what the model says, and by how
/// much that is off. "left_out", where there are any: sizes whose figures do not stand for the
/// table's transport set (unranked.hpp). Empty where fewer than three others have all metrics.
Json loggp_of(const Result& result);

}  // namespace ucxbench
