#include "harness/core/field_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "harness/core/failure.hpp"

namespace ucxbench {
namespace {

// The most that parse_count and parse_size take.
constexpr double most_count = 0x1p53;
constexpr double most_size = 0x1p62;
constexpr double lowest = std::numeric_limits<double>::lowest();

bool is_whole(const Json& value, double least, double most) {
  return value.is_number_integer() && value.get<double>() >= least && value.get<double>() <= most;
}

bool all_are(const Json& value, bool (Json::*is)() const noexcept) {
  return value.is_array() &&
         std::ranges::all_of(value, [is](const Json& element) { return (element.*is)(); });
}

bool takes(const Field& field, const Json& value) {
  switch (field.type) {
    case FieldType::flag:
      return value.is_boolean() || value == field.given;
    case FieldType::number:
      return is_whole(value, field.least.value_or(0), field.most.value_or(most_count));
    case FieldType::real:
      return value.is_number() && value >= field.least.value_or(lowest) &&
             value <= field.most.value_or(-lowest);
    case FieldType::count:
      return is_whole(value, field.least.value_or(1), field.most.value_or(most_count));
    case FieldType::size:
      return is_whole(value, 1, most_size);
    case FieldType::time:
      return is_whole(value, 0, most_size);
    case FieldType::numbers:
      return all_are(value, &Json::is_number_unsigned);
    case FieldType::texts:
      return all_are(value, &Json::is_string);
    case FieldType::choice:
    case FieldType::text:
      break;
  }
  return value.is_string();
}

}  // namespace

void check_recorded(const Field& field, const Json& value, const Json& usual) {
  if (value.is_null() || value == usual || takes(field, value)) return;
  throw Failure(Exit::usage,
                in_one_line(fmt::format("'{}' is {}", field.recorded_name(), json_text(value))));
}

}  // namespace ucxbench
