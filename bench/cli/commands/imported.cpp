#include "bench/cli/commands/imported.hpp"

#include <fmt/format.h>

#include <cstdio>

#include "harness/analysis/imports/import.hpp"
#include "harness/core/print.hpp"

namespace ucxbench {

Graph imported(const std::string& file) {
  auto graph = import_topology(file);
  for (const auto& warning : graph.warnings) {
    print_to(stderr, "ucx-bench: warning: {}\n", warning);
  }
  return graph;
}

}  // namespace ucxbench
