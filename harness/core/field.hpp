#pragma once

// A parameter of a benchmark, or an option of a command, described once. Its command-line option,
// its environment twin, its key in a TOML file, its form in the run file and its part of a case's
// key follow from the description.

#include <algorithm>
#include <chrono>
#include <concepts>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/core/json.hpp"
#include "harness/core/names.hpp"

namespace ucxbench {

enum class FieldType {
  flag,
  number,  ///< whole
  real,
  count,   ///< "10K"; in the run file a number
  size,    ///< "4KiB"; in the run file bytes
  time,    ///< "1.5s"; in the run file nanoseconds
  choice,  ///< one of several names
  text,
  numbers,  ///< "0-3,7"; in the run file an array
  texts,    ///< an option that is repeated; in the run file an array
};
std::string_view to_string(FieldType type);

/// Of a value in the run file: "bytes", "ns"; empty where it has none.
std::string_view unit_of(FieldType type);

/// Which part of a case's key a parameter is.
enum class Key {
  never,
  bare,        ///< its value alone, in the order of the description: "host-host"
  leading,     ///< "name=value", then, in the order of the description
  always,      ///< "name=value", sorted by name
  if_unusual,  ///< the same for another value than the default
};

/// What a list of values on the command line stands for; `none`: the option takes one value.
enum class Axis {
  none,
  cases,     ///< one case for each, measured by the same processes
  launches,  ///< processes of their own for each
};

struct Field {
  std::string name{};       ///< the long option, also in a TOML file; words joined by '-'
  std::string aliases{};    ///< further spellings: "-W", "--ucx-net-devices"
  std::string parameter{};  ///< in the run file, where it is not `name` with '_'
  std::string help{};       ///< with_choices() writes the choices where it has "{}"
  std::string group{};      ///< heading in the help
  std::string type_name{};  ///< in the help, where it is not the usual one of the type
  std::optional<double> least{}, most{};  ///< of a number; both or none
  /// Of a number, at most what `soak` draws: more would take too long. Without it, it keeps its
  /// default.
  std::optional<std::uint64_t> most_drawn{};
  Key key = Key::never;
  std::string key_text{};  ///< the whole part of the key, where it is not "name=value"
  Axis axis = Axis::none;
  std::string usual{};          ///< the default, where it is not the struct's value
  std::string usual_on_gpu{};   ///< the same where messages come from or go to a GPU
  Json given = true;            ///< what giving a flag sets: "--no-log" sets false
  bool null_if_empty = false;   ///< 0, "" and [] stand for "not said": null in the run file
  bool asked = true;            ///< false: no option; other values decide
  bool recorded = true;         ///< false: not in the run file; others follow from it
  bool told = true;             ///< false: ranks are not told, for it names what they must not read
  std::string separator = ",";  ///< of texts, in a key
  /// Some transports refuse its unusual values, and a launch ends with what cannot run: each has
  /// launches of its own.
  bool apart = false;

  // Filled in by choice_field(), size_field(), …
  FieldType type = FieldType::number;
  /// What it takes, or what its list or set is of; "iov:4" stands for all of its kind. Empty: no
  /// list says it.
  std::vector<std::string> choices{};
  std::function<Json(const void*)> get{};         ///< as in the run file
  std::function<void(void*, const Json&)> set{};  ///< null leaves the member as it is
  /// Of an axis without an option: its values by the parameters that are set.
  std::function<std::vector<Json>(const void*)> values{};
  /// Names on the command line that stand for several values of an axis.
  std::map<std::string, std::vector<std::string>> several{};
  /// Of an axis with an option: which of its values the parameters that are set leave; `asked` is
  /// false for its default. Throws Failure(Exit::usage) where none is left.
  std::function<std::vector<Json>(const void*, std::vector<Json> values, bool asked)> left{};

  std::string recorded_name() const;    ///< "warmup_runs"
  Json read(const void* object) const;  ///< `get`, with null for what is empty
};

/// What a text on the command line is in the run file. Throws Failure(Exit::usage) for what is no
/// value of `field`, naming its option; the value of a choice is looked at when it is set.
Json value_of(const Field& field, std::string_view text);

/// The values of an axis, each once: sizes as parse_sizes has them, else separated by commas.
std::vector<Json> values_of(const Field& field, std::string_view text);

/// The value as it is typed; empty for null.
std::string text_of(const Field& field, const Json& value);

/// `field.set`; a Failure names the option.
void set_value(const Field& field, void* object, const Json& value);

// The struct at `object`, all members that are recorded.
Json to_json(const std::vector<Field>& fields, const void* object);
/// What is not there or null stays as it is: older files lack some.
void from_json(const std::vector<Field>& fields, const Json& json, void* object);

/// "NAME/bare/…/leading=…/others=…". `usual` is such a struct with its defaults.
std::string key_of(const std::string& name, const std::vector<Field>& fields, const void* object,
                   const void* usual);

/// Whether a value is a part of the key: "never", "if unusual", "always".
std::string_view key_word(Key key);

/// The same fields, none of which is in the run file.
std::vector<Field> options_alone(std::vector<Field> fields);

/// For machines: name, type, unit, choices, default, range, help, group, key.
Json described(const std::vector<Field>& fields, const void* usual);

// The members that a field may be bound to.
Json json_of(bool value);
Json json_of(int value);
Json json_of(std::uint32_t value);
Json json_of(std::uint64_t value);
Json json_of(double value);
Json json_of(const std::string& value);
Json json_of(std::chrono::nanoseconds value);
Json json_of(const std::vector<int>& value);
Json json_of(const std::vector<std::string>& value);
Json json_of(const std::optional<int>& value);
Json json_of(const std::optional<std::uint64_t>& value);
Json json_of(const std::optional<double>& value);
void assign(bool& member, const Json& value);
void assign(int& member, const Json& value);
void assign(std::uint32_t& member, const Json& value);
void assign(std::uint64_t& member, const Json& value);
void assign(double& member, const Json& value);
void assign(std::string& member, const Json& value);
void assign(std::chrono::nanoseconds& member, const Json& value);
void assign(std::vector<int>& member, const Json& value);
void assign(std::vector<std::string>& member, const Json& value);
void assign(std::optional<int>& member, const Json& value);
void assign(std::optional<std::uint64_t>& member, const Json& value);
void assign(std::optional<double>& member, const Json& value);
std::string text_in(const Json& value);

/// The fields of a struct P. Those of a base of P are fields of P too.
template <typename P>
struct Fields {
  std::vector<Field> all;

  /// In braces, whose elements could only be copied: each start makes the fields of all benchmarks.
  struct Part {
    template <std::convertible_to<Fields> T>
    Part(T&& of) : fields(std::forward<T>(of)) {}
    mutable Fields fields;
  };

  Fields() = default;
  Fields(Field field) { all.push_back(std::move(field)); }
  Fields(std::initializer_list<Part> parts) {
    for (const auto& part : parts) {
      std::ranges::move(part.fields.all, std::back_inserter(all));
    }
  }
  template <typename Base>
    requires(std::derived_from<P, Base> && !std::same_as<P, Base>)
  Fields(Fields<Base> base) : all(std::move(base.all)) {
    for (auto& field : all) {
      field.get = [get = field.get](const void* object) {
        return get(static_cast<const Base*>(static_cast<const P*>(object)));
      };
      field.set = [set = field.set](void* object, const Json& value) {
        set(static_cast<Base*>(static_cast<P*>(object)), value);
      };
      if (field.left) {
        field.left = [left = field.left](const void* object, std::vector<Json> values, bool asked) {
          return left(static_cast<const Base*>(static_cast<const P*>(object)), std::move(values),
                      asked);
        };
      }
      if (!field.values) continue;
      field.values = [values = field.values](const void* object) {
        return values(static_cast<const Base*>(static_cast<const P*>(object)));
      };
    }
  }
};

/// One that is read and written by functions.
template <typename P>
Fields<P> computed_field(FieldType type, Json (*get)(const P&), void (*set)(P&, const Json&),
                         Field field) {
  field.type = type;
  field.get = [get](const void* object) { return get(*static_cast<const P*>(object)); };
  field.set = [set](void* object, const Json& value) {
    if (!value.is_null()) set(*static_cast<P*>(object), value);
  };
  return field;
}

template <typename P, typename Member>
Fields<P> typed(FieldType type, Member P::* member, Field field) {
  field.type = type;
  field.get = [member](const void* object) {
    return json_of(static_cast<const P*>(object)->*member);
  };
  field.set = [member](void* object, const Json& value) {
    if (!value.is_null()) assign(static_cast<P*>(object)->*member, value);
  };
  return field;
}

template <typename P>
Fields<P> flag_field(bool P::* member, Field field) {
  return typed(FieldType::flag, member, std::move(field));
}
/// A whole number.
template <typename P, typename Number>
Fields<P> number_field(Number P::* member, Field field) {
  return typed(FieldType::number, member, std::move(field));
}
template <typename P, typename Real>
Fields<P> real_field(Real P::* member, Field field) {
  return typed(FieldType::real, member, std::move(field));
}
template <typename P>
Fields<P> count_field(std::uint64_t P::* member, Field field) {
  return typed(FieldType::count, member, std::move(field));
}
template <typename P>
Fields<P> size_field(std::uint64_t P::* member, Field field) {
  return typed(FieldType::size, member, std::move(field));
}
template <typename P>
Fields<P> time_field(std::chrono::nanoseconds P::* member, Field field) {
  return typed(FieldType::time, member, std::move(field));
}
template <typename P>
Fields<P> text_field(std::string P::* member, Field field) {
  return typed(FieldType::text, member, std::move(field));
}
template <typename P>
Fields<P> numbers_field(std::vector<int> P::* member, Field field) {
  return typed(FieldType::numbers, member, std::move(field));
}
template <typename P>
Fields<P> texts_field(std::vector<std::string> P::* member, Field field) {
  return typed(FieldType::texts, member, std::move(field));
}

/// One whose option is a flag that sets `Field::given`: "--no-calibrate" a number to 0.
template <typename P>
Fields<P> off_switch_field(Fields<P> fields) {
  fields.all.front().type = FieldType::flag;
  return fields;
}

/// One with the choices of a table whose rows have a `name`.
template <typename Table>
Field with_choices(const Table& table, Field field) {
  field.choices = names_in(table);
  constexpr std::string_view place = "{}";
  if (const auto at = field.help.find(place); at != std::string::npos) {
    field.help.replace(at, place.size(), help_on(table));
  }
  return field;
}

/// A member with names. What is none is refused by Failure(Exit::usage): "unknown <what> …".
template <typename P, typename Value, std::size_t Size>
Fields<P> choice_field(Value P::* member, const Names<Value, Size>& names, const char* what,
                       Field field) {
  field = with_choices(names, std::move(field));
  field.type = FieldType::choice;
  field.get = [member, names](const void* object) {
    return json_of(std::string(name_of(names, static_cast<const P*>(object)->*member)));
  };
  field.set = [member, names, what](void* object, const Json& value) {
    if (value.is_null()) return;
    static_cast<P*>(object)->*member = parse_name(names, text_in(value), "", what);
  };
  return field;
}

/// The same value in all cases: in the run file and in the key.
template <typename P>
Fields<P> constant_field(const std::string& name, const std::string& value) {
  Field field{.name = name, .key = Key::bare, .asked = false};
  field.type = FieldType::text;
  field.get = [value](const void*) { return json_of(value); };
  field.set = [](void*, const Json&) {};
  return field;
}

/// An axis whose values are not asked for, but follow from the parameters before it.
template <typename P>
Fields<P> each_field(Fields<P> fields, std::vector<Json> (*values)(const P&)) {
  auto& field = fields.all.front();
  field.axis = Axis::cases;
  field.asked = false;
  field.values = [values](const void* object) { return values(*static_cast<const P*>(object)); };
  return fields;
}

}  // namespace ucxbench
