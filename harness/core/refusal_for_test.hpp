#pragma once

#include <gtest/gtest.h>

#include <string>

#include "harness/core/failure.hpp"

namespace ucxbench {

/// What `call` refuses with, which must be a usage failure; "accepted" where it does not.
template <typename Call>
std::string refusal_by(Call call) {
  try {
    call();
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.exit(), Exit::usage);
    return failure.what();
  }
  return "accepted";
}

}  // namespace ucxbench
