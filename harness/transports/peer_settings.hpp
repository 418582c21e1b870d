#pragma once

#include "harness/launch/environment.hpp"

namespace ucxbench {

/// Throws Failure(Exit::usage) that names the first of `settings` which the other side of a
/// --listen / --connect run may not set here. It may set how UCX sends: what chooses and tunes
/// transports and protocols. It may not name a file, a folder, a module or a command, nor a
/// variable of another program (LD_PRELOAD).
void check_peer_settings(const Variables& settings);

}  // namespace ucxbench
