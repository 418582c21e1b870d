#pragma once

#include <memory>
#include <string>

#include "harness/launch/launcher.hpp"

namespace ucxbench {

/// The launcher of a task of an srun without PMIx. Process 0 is on the step's first node, and
/// listens on a port that follows from job and step; the secret is that of the token file, which
/// the nodes share.
std::unique_ptr<Launcher> meet_by_slurm(int task, int tasks);

/// "node007" of "node[007-012,020],login1".
std::string first_node(const std::string& node_list);

}  // namespace ucxbench
