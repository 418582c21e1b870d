#include "harness/core/announced.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <string>

namespace ucxbench {
namespace {

constexpr const char* damaged = "the data were damaged, or another program speaks on this port";

std::string name_of(int rank) {
  return rank < 0 ? "another process" : fmt::format("rank {}", rank);
}

}  // namespace

void check_at_most(const Announced& announced, std::uint64_t most, Exit exit) {
  if (announced.count <= most) return;
  throw Failure(
      exit, fmt::format("{} announced {} {} where at most {} may come: {}", name_of(announced.rank),
                        announced.count, announced.unit, most, damaged));
}

void check_equal(const Announced& announced, std::uint64_t expected) {
  if (announced.count == expected) return;
  throw Failure(Exit::wrong_data,
                fmt::format("{} announced {} {} where {} should come: {}", name_of(announced.rank),
                            announced.count, announced.unit, expected, damaged));
}

void refuse_announcement(int rank) {
  throw Failure(Exit::wrong_data, fmt::format("{} announced a message with a wrong header: {}",
                                              name_of(rank), damaged));
}

void refuse_length() {
  throw Failure(Exit::wrong_data, "a message has another length than its receiver expected");
}

std::uint64_t most_message_bytes() {
  static const auto bytes = static_cast<std::uint64_t>(::sysconf(_SC_PHYS_PAGES)) *
                            static_cast<std::uint64_t>(::sysconf(_SC_PAGE_SIZE));
  return bytes;
}

}  // namespace ucxbench
