#pragma once

#include "harness/report/view.hpp"

namespace ucxbench {

/// Hosts of a sweep (analysis/sweep/sweep.hpp) by what their pairs with other hosts reach, slow
/// ones first: at most sixteen. Empty of a case without one.
Grid sweep_hosts_of(const Case& of);

/// What the shares in it are of: "the limit", "the median pair".
std::string shares_of_sweep(const Case& of);

/// The ranks that are slow while their hosts are not.
Grid slow_rails_of(const Case& of);

/// Links that are slower than their hosts explain: at most sixteen.
Grid slow_links_of(const Case& of);

}  // namespace ucxbench
