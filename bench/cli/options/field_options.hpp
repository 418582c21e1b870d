#pragma once

#include <CLI/CLI.hpp>
#include <map>
#include <string>
#include <vector>

#include "harness/core/field.hpp"

namespace ucxbench {

/// The fields of one object: what their options set.
struct FieldsOf {
  const std::vector<Field>* fields;  ///< must outlive the command, as `object`
  void* object;
  std::map<std::string, std::vector<Json>>* axes = nullptr;  ///< where values of axes go
};

/// Adds the options of all of them, by group: ranks, place, load, sample, output, and within a
/// group in the order of the fields. A wrong value throws Failure(Exit::usage).
void add_fields(CLI::App& command, const std::vector<FieldsOf>& all);

}  // namespace ucxbench
