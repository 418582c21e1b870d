#pragma once

#include <string>

#include "harness/core/json.hpp"
#include "harness/result/result.hpp"

namespace ucxbench {

/// What was looked at, and what was wrong: each check that fails is one error.
struct Checks {
  Verified verified{};
  std::string error{};  ///< the first, in words; empty when all was right

  /// One check more; `wrong` says what was, in words, and is empty when nothing was.
  void add(const std::string& wrong);
  /// Those of somebody else.
  void add(const Checks& other);
};

Json to_json(const Checks& checks);
Checks parse_checks(const Json& json);

}  // namespace ucxbench
