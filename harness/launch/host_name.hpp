#pragma once

#include <string>

namespace ucxbench {

/// The name of this machine, as the reasons of failures give it.
std::string host_name();

}  // namespace ucxbench
