#include "harness/core/field.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <set>

#include "harness/core/of_option.hpp"
#include "harness/core/or_null.hpp"
#include "harness/core/text.hpp"
#include "harness/core/units.hpp"

namespace ucxbench {
namespace {

std::string option_of(const Field& field) { return "--" + field.name; }

bool in_range(const Field& field, double value) {
  return (!field.least || value >= *field.least) && (!field.most || value <= *field.most);
}

[[noreturn]] void refuse(const Field& field, std::string_view text, const char* what) {
  const auto range =
      field.least && field.most ? fmt::format(", {} to {}", *field.least, *field.most) : "";
  throw Failure(Exit::usage, fmt::format("'{}': expected {}{}", text, what, range));
}

template <typename Number>
Number parse_number(const Field& field, std::string_view text, const char* what) {
  const auto given = trim_text(text);
  Number value{};
  const auto [end, error] = std::from_chars(given.data(), given.data() + given.size(), value);
  const bool whole = error == std::errc{} && end == given.data() + given.size();
  if (!whole || !in_range(field, static_cast<double>(value))) refuse(field, text, what);
  return value;
}

std::uint64_t count_in_range(const Field& field, std::string_view text) {
  const auto count = parse_count(text);
  if (!in_range(field, static_cast<double>(count))) refuse(field, text, "a count");
  return count;
}

Json parse(const Field& field, std::string_view text) {
  switch (field.type) {
    case FieldType::flag:
      return field.given;
    case FieldType::number:
      return parse_number<std::int64_t>(field, text, "a whole number");
    case FieldType::real:
      return parse_number<double>(field, text, "a number");
    case FieldType::count:
      return count_in_range(field, text);
    case FieldType::size:
      return parse_size(text);
    case FieldType::time:
      return parse_duration(text).count();
    case FieldType::numbers:
      return parse_list(text);
    case FieldType::choice:
    case FieldType::text:
      break;
    case FieldType::texts:
      return Json::array({std::string(text)});
  }
  return std::string(text);
}

bool is_empty(const Json& value) {
  if (value.is_string()) return value.get_ref<const std::string&>().empty();
  return value == 0 || (value.is_array() && value.empty());
}

std::string key_part(const Field& field, const Json& value) {
  if (!field.key_text.empty()) return field.key_text;
  if (field.type == FieldType::flag) return field.name + "=yes";
  return field.name + "=" + text_of(field, value);
}

Json limit_of(const Field& field, const std::optional<double>& limit) {
  if (!limit) return {};
  return field.type == FieldType::number ? Json(std::llround(*limit)) : Json(*limit);
}

}  // namespace

std::string_view to_string(FieldType type) {
  switch (type) {
    case FieldType::flag:
      return "flag";
    case FieldType::number:
      return "number";
    case FieldType::real:
      return "real";
    case FieldType::count:
      return "count";
    case FieldType::size:
      return "size";
    case FieldType::time:
      return "time";
    case FieldType::choice:
      return "choice";
    case FieldType::text:
      return "text";
    case FieldType::numbers:
      return "numbers";
    case FieldType::texts:
      break;
  }
  return "texts";
}

std::string_view unit_of(FieldType type) {
  if (type == FieldType::size) return "bytes";
  return type == FieldType::time ? "ns" : "";
}

std::string Field::recorded_name() const {
  if (!parameter.empty()) return parameter;
  auto plain = name;
  std::ranges::replace(plain, '-', '_');
  return plain;
}

Json Field::read(const void* object) const {
  auto value = get(object);
  return null_if_empty && is_empty(value) ? Json() : value;
}

Json value_of(const Field& field, std::string_view text) {
  return of_option(option_of(field), [&] { return parse(field, text); });
}

std::vector<Json> values_of(const Field& field, std::string_view text) {
  std::vector<Json> values;
  const auto add = [&](Json value) {
    if (std::ranges::find(values, value) == values.end()) values.push_back(std::move(value));
  };
  if (field.type == FieldType::size) {
    for (const auto bytes : of_option(option_of(field), [&] { return parse_sizes(text); })) {
      add(bytes);
    }
  } else {
    for (const auto part : split_text(text, ',')) {
      const auto several = field.several.find(std::string(part));
      if (several == field.several.end()) {
        add(value_of(field, part));
      } else {
        for (const auto& word : several->second) add(value_of(field, word));
      }
    }
  }
  return values;
}

std::string text_of(const Field& field, const Json& value) {
  if (value.is_null()) return "";
  switch (field.type) {
    case FieldType::flag:
      return value == field.given ? "true" : "false";
    case FieldType::number:
      return value.dump();
    case FieldType::real:
      return fmt::format("{}", value.get<double>());
    case FieldType::count:
      return exact_count(value.get<std::uint64_t>());
    case FieldType::size:
      return exact_size(value.get<std::uint64_t>());
    case FieldType::time:
      return format_duration(std::chrono::nanoseconds(value.get<std::int64_t>()));
    case FieldType::numbers:
      return format_list(value.get<std::vector<int>>());
    case FieldType::texts:
      return fmt::format("{}", fmt::join(value.get<std::vector<std::string>>(), field.separator));
    case FieldType::choice:
    case FieldType::text:
      break;
  }
  return value.get<std::string>();
}

void set_value(const Field& field, void* object, const Json& value) {
  of_option(option_of(field), [&] { field.set(object, value); });
}

Json to_json(const std::vector<Field>& fields, const void* object) {
  auto json = Json::object();
  for (const auto& field : fields) {
    if (field.recorded) json[field.recorded_name()] = field.read(object);
  }
  return json;
}

void from_json(const std::vector<Field>& fields, const Json& json, void* object) {
  for (const auto& field : fields) {
    if (!field.recorded) continue;
    const auto found = json.find(field.recorded_name());
    if (found != json.end()) field.set(object, *found);
  }
}

std::string key_of(const std::string& name, const std::vector<Field>& fields, const void* object,
                   const void* usual) {
  std::string bare = name, leading;
  std::set<std::string> others;
  for (const auto& field : fields) {
    if (field.key == Key::never) continue;
    const auto value = field.read(object);
    if (field.key == Key::if_unusual && value == field.read(usual)) continue;
    if (field.key == Key::bare) {
      bare.append("/").append(text_of(field, value));
    } else if (field.key == Key::leading) {
      leading.append("/").append(key_part(field, value));
    } else {
      others.insert(key_part(field, value));
    }
  }
  bare += leading;
  for (const auto& part : others) bare.append("/").append(part);
  return bare;
}

std::string_view key_word(Key key) {
  switch (key) {
    case Key::never:
      return "never";
    case Key::if_unusual:
      return "if unusual";
    case Key::bare:
    case Key::leading:
    case Key::always:
      break;
  }
  return "always";
}

std::vector<Field> options_alone(std::vector<Field> fields) {
  for (auto& field : fields) field.recorded = false;
  return fields;
}

Json described(const std::vector<Field>& fields, const void* usual) {
  auto all = Json::array();
  for (const auto& field : fields) {
    if (!field.asked) continue;
    Json option = {{"name", field.name},
                   {"type", to_string(field.type)},
                   {"unit", text_or_null(std::string(unit_of(field.type)))},
                   {"list", field.axis != Axis::none},
                   {"choices", field.choices.empty() ? Json() : Json(field.choices)},
                   {"help", field.help},
                   {"group", field.group},
                   {"key", key_word(field.key)}};
    option["aliases"] = Json::array();
    for (const auto alias : split_text(field.aliases, ',')) {
      if (!alias.empty()) option["aliases"].push_back(std::string(alias));
    }
    option["parameter"] = field.recorded ? Json(field.recorded_name()) : Json();
    option["default"] =
        text_or_null(field.usual.empty() ? text_of(field, field.read(usual)) : field.usual);
    if (!field.usual_on_gpu.empty()) option["default_on_gpu"] = field.usual_on_gpu;
    option["least"] = limit_of(field, field.least);
    option["most"] = limit_of(field, field.most);
    all.push_back(std::move(option));
  }
  return all;
}

Json json_of(bool value) { return value; }
Json json_of(int value) { return value; }
Json json_of(std::uint32_t value) { return value; }
Json json_of(std::uint64_t value) { return value; }
Json json_of(double value) { return value; }
Json json_of(const std::string& value) { return value; }
Json json_of(std::chrono::nanoseconds value) { return value.count(); }
Json json_of(const std::vector<int>& value) { return value; }
Json json_of(const std::vector<std::string>& value) { return value; }
Json json_of(const std::optional<int>& value) { return number_or_null(value); }
Json json_of(const std::optional<std::uint64_t>& value) { return number_or_null(value); }
Json json_of(const std::optional<double>& value) { return number_or_null(value); }

void assign(bool& member, const Json& value) { value.get_to(member); }
void assign(int& member, const Json& value) { value.get_to(member); }
void assign(std::uint32_t& member, const Json& value) { value.get_to(member); }
void assign(std::uint64_t& member, const Json& value) { value.get_to(member); }
void assign(double& member, const Json& value) { value.get_to(member); }
void assign(std::string& member, const Json& value) { value.get_to(member); }
void assign(std::chrono::nanoseconds& member, const Json& value) {
  member = std::chrono::nanoseconds(value.get<std::int64_t>());
}
void assign(std::vector<int>& member, const Json& value) { value.get_to(member); }
void assign(std::vector<std::string>& member, const Json& value) { value.get_to(member); }
void assign(std::optional<int>& member, const Json& value) { member = value.get<int>(); }
void assign(std::optional<std::uint64_t>& member, const Json& value) {
  member = value.get<std::uint64_t>();
}
void assign(std::optional<double>& member, const Json& value) { member = value.get<double>(); }

std::string text_in(const Json& value) { return value.get<std::string>(); }

}  // namespace ucxbench
