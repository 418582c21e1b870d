#include "workloads/common/injected.hpp"

namespace ucxbench {

void corrupt(MemoryKind kind, double* element) {
  double value = 0;
  copy_bytes(kind, &value, element, sizeof value);
  value = -value;
  copy_bytes(kind, element, &value, sizeof value);
}

}  // namespace ucxbench
