#include "harness/result/run_types.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <string_view>

#include "harness/core/read_json.hpp"

namespace ucxbench {
namespace {

const Json& schema() {
  static const Json whole = read_json(run_schema_text());
  return whole;
}

/// Behind "$ref": "#/$defs/count".
const Json& definition(const Json& reference) {
  static const Json& all = schema().at("$defs");
  constexpr std::string_view prefix = "#/$defs/";
  return all.at(reference.get_ref<const std::string&>().substr(prefix.size()));
}

bool has_type(const Json& value, std::string_view type) {
  if (type == "object") return value.is_object();
  if (type == "array") return value.is_array();
  if (type == "string") return value.is_string();
  if (type == "boolean") return value.is_boolean();
  if (type == "null") return value.is_null();
  // 2.0 is whole, too.
  return value.is_number();
}

/// Of "type": a name, or a list of them.
bool has_any_type(const Json& value, const Json& types) {
  if (types.is_string()) return has_type(value, types.get_ref<const std::string&>());
  return std::ranges::any_of(
      types, [&](const Json& type) { return has_type(value, type.get_ref<const std::string&>()); });
}

class Checker {
 public:
  /// Where the first value is that does not fit; empty: there is none.
  std::string misfit(const Json& value, const Json& rule) {
    place_.clear();
    return fits(value, rule) ? "" : found_;
  }

 private:
  bool fits(const Json& value, const Json& rule) {
    for (const auto& [word, of] : rule.items()) {
      if (word == "$ref" && !fits(value, definition(of))) return false;
      if (word == "type" && !has_any_type(value, of)) return not_here(value);
      if ((word == "anyOf" || word == "oneOf") && !fits_any(value, of)) return not_here(value);
      if (word == "enum" && std::ranges::none_of(of, [&](const Json& known) {
            return known.type() == value.type();
          })) {
        return not_here(value);
      }
    }
    if (value.is_array()) return elements_fit(value, rule);
    return !value.is_object() || members_fit(value, rule);
  }

  bool fits_any(const Json& value, const Json& rules) {
    return std::ranges::any_of(rules, [&](const Json& rule) { return fits(value, rule); });
  }

  bool elements_fit(const Json& value, const Json& rule) {
    const auto items = rule.find("items");
    if (items == rule.end()) return true;
    for (std::size_t at = 0; at < value.size(); ++at) {
      if (!fits_at("/" + std::to_string(at), value[at], *items)) return false;
    }
    return true;
  }

  bool members_fit(const Json& value, const Json& rule) {
    const auto properties = rule.find("properties");
    const auto others = rule.find("additionalProperties");
    for (const auto& [name, member] : value.items()) {
      const Json* of = others != rule.end() && others->is_object() ? &*others : nullptr;
      if (properties != rule.end()) {
        if (const auto known = properties->find(name); known != properties->end()) of = &*known;
      }
      if (of != nullptr && !fits_at("/" + name, member, *of)) return false;
    }
    return true;
  }

  bool fits_at(const std::string& step, const Json& value, const Json& rule) {
    const auto before = place_.size();
    place_ += step;
    const bool fit = fits(value, rule);
    place_.resize(before);
    return fit;
  }

  bool not_here(const Json& value) {
    found_ = place_ + " is of another type: " + value.type_name();
    return false;
  }

  std::string place_, found_;
};

}  // namespace

void check_types(const Json& json, RunPart part) {
  static const Json& of_launch = schema().at("$defs").at("launch");
  const auto misfit = Checker().misfit(json, part == RunPart::launch ? of_launch : schema());
  if (!misfit.empty()) throw std::invalid_argument(misfit);
}

}  // namespace ucxbench
