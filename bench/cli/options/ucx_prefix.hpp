#pragma once

#include <filesystem>
#include <string>

#include "harness/launch/environment.hpp"

namespace ucxbench {

/// The folder of libucp.so.0 below the prefix of an installation of UCX: its lib, lib64 or lib/ of
/// the architecture. `given` is the option with its value. Throws Failure(Exit::usage) where there
/// is none.
std::filesystem::path ucx_libraries(const std::string& given, const std::filesystem::path& prefix);

/// By which variables a program loads the UCX in that folder, and its modules.
Variables ucx_environment(const std::filesystem::path& libraries);

/// Whether two such folders have the same UCX, byte for byte: its libraries and its modules.
bool is_same_ucx(const std::filesystem::path& one, const std::filesystem::path& other);

/// Whether both are one file, or have the same bytes.
bool have_same_contents(const std::filesystem::path& one, const std::filesystem::path& other);

}  // namespace ucxbench
