#include "harness/run/together.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <system_error>

#include "harness/core/files.hpp"

namespace ucxbench {

std::string clock_identity() {
  std::error_code error;
  const auto zone = std::filesystem::read_symlink("/proc/self/ns/time", error);
  return first_line("/proc/sys/kernel/random/boot_id") + " " + zone.string();
}

Json to_json(const Met& meeting) { return Json::array({meeting.came_ns, meeting.left_ns}); }

Met met_from(const Json& json) {
  return {.came_ns = json.at(0).get<std::uint64_t>(), .left_ns = json.at(1).get<std::uint64_t>()};
}

TimeAxis::TimeAxis(bool one_identity, std::span<const Met> meetings)
    : one_clock_(one_identity && std::ranges::max(meetings, {}, &Met::came_ns).came_ns <=
                                     std::ranges::min(meetings, {}, &Met::left_ns).left_ns),
      zero_ns_(meetings.front().came_ns) {}

Moment TimeAxis::at(std::uint64_t ns, const Met& meeting) const {
  // Of unsigned differences, which wrap around.
  const auto since = [ns](std::uint64_t zero) {
    return static_cast<double>(static_cast<std::int64_t>(ns - zero));
  };
  if (one_clock_) return {.earliest_ns = since(zero_ns_), .latest_ns = since(zero_ns_)};
  return {.earliest_ns = since(meeting.left_ns), .latest_ns = since(meeting.came_ns)};
}

std::optional<double> Together::GBps() const {
  constexpr double most_of_it = 0.8;
  if (!(span_ns > 0) || common_ns < most_of_it * span_ns) return std::nullopt;
  return bytes / span_ns;
}

Together together_of(std::span<const Span> spans) {
  double first_begin = spans.front().begin.earliest_ns;
  double last_begin = spans.front().begin.latest_ns;
  double first_end = spans.front().end.earliest_ns;
  double last_end = spans.front().end.latest_ns;
  Together all;
  for (const auto& [begin, end, bytes] : spans) {
    first_begin = std::min(first_begin, begin.earliest_ns);
    last_begin = std::max(last_begin, begin.latest_ns);
    first_end = std::min(first_end, end.earliest_ns);
    last_end = std::max(last_end, end.latest_ns);
    all.bytes += bytes;
  }
  all.common_ns = std::max(0.0, first_end - last_begin);
  all.span_ns = last_end - first_begin;
  return all;
}

}  // namespace ucxbench
