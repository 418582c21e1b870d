#include "bench/cli/options/field_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <exception>
#include <iterator>
#include <string_view>

namespace ucxbench {
namespace {

constexpr std::array<std::string_view, 6> groups = {
    "ranks", "place", "place, as dask-cuda spells it", "load", "sample", "output"};

struct OptionOf {
  const Field* field;
  FieldsOf of;

  std::ptrdiff_t group() const { return std::ranges::find(groups, field->group) - groups.begin(); }
};

std::string type_name(const Field& field) {
  if (!field.type_name.empty()) return field.type_name;
  std::string name = "TEXT";
  switch (field.type) {
    case FieldType::number:
      name = "INT";
      break;
    case FieldType::real:
      name = "FLOAT";
      break;
    case FieldType::count:
      name = "COUNT";
      break;
    case FieldType::size:
      name = "SIZE";
      break;
    case FieldType::time:
      name = "TIME";
      break;
    case FieldType::choice:
      name = "NAME";
      break;
    case FieldType::numbers:
      name = "LIST";
      break;
    case FieldType::flag:
    case FieldType::text:
    case FieldType::texts:
      break;
  }
  if (field.axis != Axis::none) name = "LIST";
  return field.least && field.most ? fmt::format("{} in [{} - {}]", name, *field.least, *field.most)
                                   : name;
}

std::string usual_text(const OptionOf& option) {
  const auto& field = *option.field;
  return field.usual.empty() ? text_of(field, field.read(option.of.object)) : field.usual;
}

std::string help_of(const Field& field) {
  if (field.usual_on_gpu.empty()) return field.help;
  return fmt::format("{} (default: {}; with GPU memory {})", field.help, field.usual,
                     field.usual_on_gpu);
}

void set_option(const OptionOf& option, const std::vector<std::string>& given) {
  const auto& [field, of] = option;
  if (field->axis != Axis::none && of.axes != nullptr) {
    auto& values = (*of.axes)[field->name];
    values.clear();
    for (const auto& text : given)
      std::ranges::copy(values_of(*field, text), std::back_inserter(values));
    // What is no name is refused here, before anything else is looked at.
    for (const auto& value : values) set_value(*field, of.object, value);
    return;
  }
  if (field->type != FieldType::texts) {
    set_value(*field, of.object, value_of(*field, given.back()));
    return;
  }
  auto all = Json::array();
  for (const auto& text : given) all.push_back(text);
  set_value(*field, of.object, all);
}

/// What CLI11 takes behind --flag=, in the environment and in a file. It does not say what it
/// refuses.
std::string why_no_flag_value(const std::string& given) {
  try {
    CLI::detail::to_flag_value(given);
    return "";
  } catch (const std::exception&) {
    return fmt::format("'{}': expected true or false", given);
  }
}

void add_option(CLI::App& command, const OptionOf& option) {
  const auto& field = *option.field;
  const auto names = "--" + field.name + (field.aliases.empty() ? "" : "," + field.aliases);
  if (field.type == FieldType::flag) {
    command
        .add_flag_function(
            names,
            [option](std::int64_t count) {
              if (count > 0) set_value(*option.field, option.of.object, option.field->given);
            },
            help_of(field))
        ->group(field.group)
        ->check(why_no_flag_value);
    return;
  }
  auto* added = command.add_option(
      names,
      [option](const CLI::results_t& given) {
        set_option(option, given);
        return true;
      },
      help_of(field));
  added->group(field.group)->type_name(type_name(field));
  if (field.usual_on_gpu.empty()) added->default_str(usual_text(option));
  if (field.axis == Axis::launches) {
    added->expected(1, CLI::detail::expected_max_vector_size)->delimiter(',')->allow_extra_args();
  } else if (field.type == FieldType::texts) {
    added->expected(1, CLI::detail::expected_max_vector_size)->allow_extra_args(false);
  }
}

}  // namespace

void add_fields(CLI::App& command, const std::vector<FieldsOf>& all) {
  std::vector<OptionOf> options;
  for (const auto& of : all) {
    for (const auto& field : *of.fields) {
      if (field.asked) options.push_back({&field, of});
    }
  }
  std::ranges::stable_sort(options, {}, &OptionOf::group);
  for (const auto& option : options) add_option(command, option);
}

}  // namespace ucxbench
