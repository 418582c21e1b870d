#pragma once

#include <cstdlib>
#include <exception>
#include <iostream>
#include <string>

#include "harness/core/failure.hpp"

namespace ucxbench {

/// Bad input is refused in one line that is a usage failure; all else is a bug.
template <typename Reading>
void read_or_refuse(const Reading& reading) {
  try {
    reading();
  } catch (const Failure& failure) {
    const std::string what = failure.what();
    if (failure.exit() == Exit::usage && what.find('\n') == std::string::npos) return;
    std::cerr << "refused as it should not be: " << what << "\n";
    std::abort();
  } catch (const std::exception& error) {
    std::cerr << "not refused: " << error.what() << "\n";
    std::abort();
  }
}

}  // namespace ucxbench
