#include "harness/memory/kind.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>
#include <vector>

#include "harness/core/failure.hpp"
#include "harness/core/text.hpp"

namespace ucxbench {
namespace {

constexpr std::array<std::pair<MemoryKind, std::string_view>, 11> kinds = {
    {{MemoryKind::host, "host"},
     {{MemoryPlace::host, MemoryWay::huge, 0}, "host:huge"},
     {MemoryKind::pinned, "pinned"},
     {MemoryKind::cuda, "cuda"},
     {{MemoryPlace::cuda, MemoryWay::async, 0}, "cuda:async"},
     {{MemoryPlace::cuda, MemoryWay::vmm, 0}, "cuda:vmm"},
     {{MemoryPlace::cuda, MemoryWay::fabric, 0}, "cuda:fabric"},
     {MemoryKind::managed, "managed"},
     {{MemoryPlace::managed, MemoryWay::prefer_gpu, 0}, "managed:gpu"},
     {{MemoryPlace::managed, MemoryWay::prefer_host, 0}, "managed:host"},
     {{MemoryPlace::managed, MemoryWay::read_mostly, 0}, "managed:read"}}};

constexpr std::string_view node_name = "host:node";

}  // namespace

MemoryKind parse_memory_kind(std::string_view name) {
  for (const auto& [kind, known] : kinds) {
    if (name == known) return kind;
  }
  if (name.starts_with(node_name)) {
    MemoryKind kind{MemoryPlace::host, MemoryWay::node, 0};
    const auto* const end = name.data() + name.size();
    const auto [rest, error] = std::from_chars(name.data() + node_name.size(), end, kind.node);
    // One name only: cases are found again by it.
    const bool is_number = error == std::errc() && rest == end && kind.node >= 0;
    if (is_number && to_string(kind) == name) return kind;
  }
  std::vector<std::string> known;
  for (const auto& [kind, own] : kinds) known.emplace_back(own);
  known.insert(known.begin() + 2, "host:node0");
  throw Failure(Exit::usage, "--memory: " + unknown_name("memory kind", name, known));
}

std::string to_string(const MemoryKind& kind) {
  if (kind.way == MemoryWay::node) return fmt::format("{}{}", node_name, kind.node);
  return std::string(std::ranges::find(kinds, kind, &decltype(kinds)::value_type::first)->second);
}

}  // namespace ucxbench
