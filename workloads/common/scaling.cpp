#include "workloads/common/scaling.hpp"

#include "harness/core/names.hpp"

namespace ucxbench {
namespace {

constexpr Names<Scaling, 3> scalings = {
    {{Scaling::unsaid, ""}, {Scaling::weak, "weak"}, {Scaling::strong, "strong"}}};

}  // namespace

Scaling parse_scaling(std::string_view name) { return parse_name(scalings, name, "", "scaling"); }

std::string_view to_string(Scaling scaling) { return name_of(scalings, scaling); }

}  // namespace ucxbench
