#include "workloads/common/injected.hpp"

#include "harness/core/names.hpp"

namespace ucxbench {
namespace {

constexpr Names<Injected, 4> mistakes = {{{Injected::nothing, ""},
                                          {Injected::corrupt, "corrupt"},
                                          {Injected::drop, "drop"},
                                          {Injected::misroute, "misroute"}}};

}  // namespace

Injected parse_injected(std::string_view name) { return parse_name(mistakes, name, "", "mistake"); }

std::string_view to_string(Injected injected) { return name_of(mistakes, injected); }

void corrupt(MemoryKind kind, double* element) {
  double value = 0;
  copy_bytes(kind, &value, element, sizeof value);
  value = -value;
  copy_bytes(kind, element, &value, sizeof value);
}

}  // namespace ucxbench
