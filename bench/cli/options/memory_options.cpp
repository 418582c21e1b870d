#include "bench/cli/options/memory_options.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "harness/core/failure.hpp"
#include "harness/core/text.hpp"

namespace ucxbench {

bool any_on_gpu(const std::vector<MemoryKind>& kinds) {
  return std::any_of(kinds.begin(), kinds.end(), on_gpu);
}

std::vector<MemoryKind> parse_memory_pair(const std::string& text) {
  std::vector<MemoryKind> kinds;
  for (const auto kind : split_text(text, ',')) kinds.push_back(parse_memory_kind(kind));
  if (kinds.size() > 2) {
    throw Failure(Exit::usage, fmt::format("--memory {}: one kind, or two: sent from, received "
                                           "into; repeat the option for several",
                                           text));
  }
  if (kinds.size() == 1) kinds.push_back(kinds.front());
  return kinds;
}

const std::vector<Field>& memory_fields() {
  static const auto all = options_alone(
      texts_field(
          &MemoryOptions::memory,
          with_choices(memory_kinds, {.name = "memory",
                                      .aliases = "-m",
                                      .help = "{}, or SEND,RECEIVE; repeatable (default: host)",
                                      .group = "place",
                                      .type_name = "KIND"}))
          .all);
  return all;
}

std::vector<std::vector<MemoryKind>> MemoryOptions::kinds() const {
  std::vector<std::vector<MemoryKind>> all;
  for (const auto& text : memory.empty() ? std::vector<std::string>{"host"} : memory) {
    auto kinds = parse_memory_pair(text);
    if (std::find(all.begin(), all.end(), kinds) == all.end()) all.push_back(std::move(kinds));
  }
  return all;
}

}  // namespace ucxbench
