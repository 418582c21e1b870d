#pragma once

#include <string>
#include <vector>

#include "harness/core/field.hpp"
#include "harness/memory/buffer.hpp"

namespace ucxbench {

/// Whether messages of any of these come from or go to a GPU.
bool any_on_gpu(const std::vector<MemoryKind>& kinds);

/// One value of --memory, "host" or "cuda,host": sent from, received into. Throws
/// Failure(Exit::usage).
std::vector<MemoryKind> parse_memory_pair(const std::string& text);

/// Which memory a command's ranks use.
struct MemoryOptions {
  std::vector<std::string> memory;

  /// Each pair, sent from, received into; host where none was named. Throws Failure(Exit::usage).
  std::vector<std::vector<MemoryKind>> kinds() const;
};

const std::vector<Field>& memory_fields();

}  // namespace ucxbench
