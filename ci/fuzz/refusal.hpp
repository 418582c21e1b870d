#pragma once

#include <cstdlib>
#include <exception>
#include <iostream>
#include <string>

#include "harness/core/failure.hpp"

namespace ucxbench {

/// Bad input is refused in one line by a failure with this status; all else is a bug.
template <typename Reading>
void read_or_refuse(const Reading& reading, Exit status = Exit::usage) {
  try {
    reading();
  } catch (const Failure& failure) {
    const std::string what = failure.what();
    if (failure.exit() == status && what.find('\n') == std::string::npos) return;
    std::cerr << "refused as it should not be: " << what << "\n";
    std::abort();
  } catch (const std::exception& error) {
    std::cerr << "not refused: " << error.what() << "\n";
    std::abort();
  }
}

}  // namespace ucxbench
