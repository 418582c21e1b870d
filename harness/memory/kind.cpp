#include "harness/memory/kind.hpp"

#include <fmt/format.h>

#include <charconv>

namespace ucxbench {
namespace {

constexpr std::string_view node_name = "host:node";

}  // namespace

MemoryKind parse_memory_kind(std::string_view name) {
  if (name.starts_with(node_name)) {
    MemoryKind kind{MemoryPlace::host, MemoryWay::node, 0};
    const auto* const end = name.data() + name.size();
    const auto [rest, error] = std::from_chars(name.data() + node_name.size(), end, kind.node);
    // One name only: cases are found again by it.
    const bool is_number = error == std::errc() && rest == end && kind.node >= 0;
    if (is_number && to_string(kind) == name) return kind;
  }
  return parse_name(memory_kinds, name, "--memory: ", "memory kind");
}

std::string to_string(const MemoryKind& kind) {
  if (kind.way == MemoryWay::node) return fmt::format("{}{}", node_name, kind.node);
  return std::string(name_of(memory_kinds, kind));
}

}  // namespace ucxbench
