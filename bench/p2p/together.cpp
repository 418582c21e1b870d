#include "bench/p2p/together.hpp"

#include <algorithm>

namespace ucxbench::p2p {

std::optional<double> Together::GBps() const {
  constexpr double most_of_it = 0.8;
  if (!(span_ns > 0) || common_ns < most_of_it * span_ns) return std::nullopt;
  return bytes / span_ns;
}

Together together_of(std::span<const Span> streams) {
  double first_begin = streams.front().begin_ns;
  double last_begin = first_begin;
  double first_end = streams.front().end_ns;
  double last_end = first_end;
  Together all;
  for (const auto& stream : streams) {
    first_begin = std::min(first_begin, stream.begin_ns - stream.earlier_ns);
    last_begin = std::max(last_begin, stream.begin_ns);
    first_end = std::min(first_end, stream.end_ns - stream.earlier_ns);
    last_end = std::max(last_end, stream.end_ns);
    all.bytes += stream.bytes;
  }
  all.common_ns = std::max(0.0, first_end - last_begin);
  all.span_ns = last_end - first_begin;
  return all;
}

}  // namespace ucxbench::p2p
