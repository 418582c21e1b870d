#pragma once

#include "harness/core/failure.hpp"

namespace ucxbench {

/// Parses the command line, runs the command, prints one line for a failure, and returns the exit
/// status.
Exit run_command_line(int argc, char** argv);

}  // namespace ucxbench
