#pragma once

#include <memory>

#include "harness/launch/launcher.hpp"

namespace ucxbench {

/// The launcher of a process that has PMIX_RANK and PMIX_NAMESPACE, by the library libpmix.so.2
/// (PMIx 2 to 5), which is looked for now. Throws Failure(Exit::cannot_run) where it is not there,
/// or does not find its server within launcher_limit.
std::unique_ptr<Launcher> meet_by_pmix();

}  // namespace ucxbench
