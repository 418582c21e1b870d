#pragma once

#include <string>

#include "harness/core/failure.hpp"

namespace ucxbench {

/// What `parse` returns; a Failure of it names the option: "--timeout: duration 'x': expected …".
template <typename Parse>
auto of_option(const std::string& option, Parse parse) {
  try {
    return parse();
  } catch (const Failure& failure) {
    throw Failure(failure.exit(), option + ": " + failure.what());
  }
}

}  // namespace ucxbench
