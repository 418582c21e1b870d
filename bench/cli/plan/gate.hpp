#pragma once

#include <span>

#include "harness/comm/transport_set.hpp"
#include "harness/core/failure.hpp"
#include "harness/result/result.hpp"

namespace ucxbench {

/// The gate of --require: every measured one of `cases` had at least 99 % of its payload carried by
/// members of `required`, and not by a copy inside one GPU unless `allow_same_gpu`. What cannot be
/// told does not meet it. Prints one line for each case that fails; returns Exit::gate then, else
/// Exit::done.
Exit check_required(std::span<const Case> cases, const TransportSet& required, bool allow_same_gpu);

}  // namespace ucxbench
