#include "harness/run/checks.hpp"

namespace ucxbench {

void Checks::add(const std::string& wrong) {
  add(Checks{.verified = {.checked = 1, .errors = wrong.empty() ? 0U : 1U}, .error = wrong});
}

void Checks::add(const Checks& other) {
  verified.checked += other.verified.checked;
  verified.errors += other.verified.errors;
  if (error.empty()) error = other.error;
}

Json to_json(const Checks& checks) {
  return {{"checked", checks.verified.checked},
          {"errors", checks.verified.errors},
          {"error", checks.error}};
}

Checks parse_checks(const Json& json) {
  return {.verified = {.checked = json.at("checked").get<std::uint64_t>(),
                       .errors = json.at("errors").get<std::uint64_t>()},
          .error = json.at("error").get<std::string>()};
}

}  // namespace ucxbench
