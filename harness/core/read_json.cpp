#include "harness/core/read_json.hpp"

#include <fmt/format.h>

#include "harness/core/json_builder.hpp"

namespace ucxbench {
namespace {

std::string in_words(JsonFlaw flaw, std::size_t number, const std::string& key) {
  switch (flaw) {
    case JsonFlaw::broken:
      return fmt::format("it ends or breaks at byte {}", number);
    case JsonFlaw::too_deep:
      return fmt::format("JSON of more than {} levels", number);
    case JsonFlaw::many_members:
      return fmt::format("an object in it has more than {} members", number);
    case JsonFlaw::many_values:
      return fmt::format("it has more than {} values", number);
    case JsonFlaw::large_number:
      return "a number in it is too large for any";
    case JsonFlaw::key_twice:
      return fmt::format("the key '{}' stands twice in one object", key);
  }
  return "it is not JSON";
}

}  // namespace

BadJson::BadJson(JsonFlaw of, std::size_t count, const std::string& name)
    : std::runtime_error(in_words(of, count, name)), flaw(of), number(count), key(name) {}

Json read_json(std::string_view text, const JsonLimits& limits) {
  JsonBuilder<Json> builder(limits);
  Json::sax_parse(text, &builder);
  return builder.take();
}

Json json_or_null(std::string_view text) {
  try {
    return read_json(text);
  } catch (const BadJson&) {
    return nullptr;
  }
}

std::string why_not_json(const std::exception& error) {
  const std::string why = error.what();
  const auto prefix = why.starts_with('[') ? why.find("] ") : std::string::npos;
  return prefix == std::string::npos ? why : why.substr(prefix + 2);
}

}  // namespace ucxbench
