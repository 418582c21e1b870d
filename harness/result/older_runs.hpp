#pragma once

#include "harness/result/result.hpp"

namespace ucxbench {

/// What a case shows, of a run file from before run files said so: taken from which parameters and
/// metrics it has. Nothing else looks at these for that.
Shows shows_of_older(const Case& of);

}  // namespace ucxbench
