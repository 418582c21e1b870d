#include "harness/result/phases.hpp"

#include "harness/result/words.hpp"

namespace ucxbench {

std::optional<PhaseKind> kind_of(const Json& phase) {
  return value_of(phase_kinds, text_at(phase, "/kind"));
}

}  // namespace ucxbench
