#pragma once

#include <string>
#include <vector>

#include "harness/result/cases.hpp"

namespace ucxbench {

/// Of a ping-pong over three sizes or more, a line for latency and one for bandwidth: a bar per
/// size, as high as the logarithm of its median, in UTF-8. None where the sizes are fewer, or the
/// locale has no UTF-8.
std::vector<std::string> charts_of(const Block& block);

}  // namespace ucxbench
