#pragma once

#include <cstdint>

#include "harness/core/failure.hpp"

namespace ucxbench {

/// How much another process says that it sends, before this one believes it.
struct Announced {
  std::uint64_t count;
  const char* unit = "bytes";
  int rank = -1;  ///< who said so; -1: the message itself tells nothing of that
};

/// Throws Failure with `exit` where it is more than can come.
void check_at_most(const Announced& announced, std::uint64_t most, Exit exit = Exit::wrong_data);
/// Throws Failure(Exit::wrong_data) where it is not what this process expects.
void check_equal(const Announced& announced, std::uint64_t expected);
/// What stands where an announcement should be is none.
[[noreturn]] void refuse_announcement(int rank);
/// A message of another length than was expected has come; how long it was, is not known.
[[noreturn]] void refuse_length();

/// No message is larger than the memory of the host that receives it, in bytes.
std::uint64_t most_message_bytes();

}  // namespace ucxbench
