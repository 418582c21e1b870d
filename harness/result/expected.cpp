#include "harness/result/expected.hpp"

#include "harness/result/cases.hpp"
#include "harness/result/words.hpp"

namespace ucxbench {
namespace {

std::optional<std::uint64_t> bytes_at(const Json& row, const char* name) {
  const auto found = row.find(name);
  return found != row.end() && found->is_number_unsigned()
             ? std::optional(found->get<std::uint64_t>())
             : std::nullopt;
}

}  // namespace

std::optional<Expected> expected_of(const Case& of, const std::string& metric) {
  const auto protocols = of.path.find("protocols");
  const auto measured = p50_of(of, metric.c_str());
  const auto bytes = bytes_of(of);
  if (protocols == of.path.end() || !protocols->is_array() || !measured || !(*measured > 0) ||
      !bytes) {
    return std::nullopt;
  }
  for (const auto& row : *protocols) {
    const auto us = number_at(row, "expected_us");
    const auto use = text_at(row, "/use", "");
    if (!us || !(*us > 0) || use.empty() || !metric.starts_with(use)) continue;
    const bool is_rate = use == "bandwidth";
    return Expected{.measured = *measured,
                    .expected = is_rate ? static_cast<double>(*bytes) * 1e-3 / *us : *us,
                    .by_request = text_at(row, "/expected_by") == "request",
                    .protocol = text_at(row, "/protocol", ""),
                    .from = bytes_at(row, "from"),
                    .to = bytes_at(row, "to"),
                    .is_rate = is_rate,
                    .interval = interval_of(of, metric)};
  }
  return std::nullopt;
}

std::optional<Interval> Expected::times_interval() const {
  if (!is_rate) return scaled(interval, 1 / expected);
  return quotient(Interval{expected, expected}, interval);
}

}  // namespace ucxbench
