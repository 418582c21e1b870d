#pragma once

#include <filesystem>
#include <string>

namespace ucxbench {

/// The secret that both sides of a `--listen` / `--connect` run share. It comes from `file` when
/// given, else from UCXBENCH_TOKEN, else from ucx-bench/token below the user's configuration
/// directory. A file must belong to the user or root and be closed to everybody else.
/// Throws Failure(Exit::usage).
std::string load_token(const std::filesystem::path& file);

/// As `load_token`, but makes the file, with a fresh token, where there is none.
std::string load_or_create_token(const std::filesystem::path& file);

/// 32 random bytes, as text.
std::string fresh_token();

/// $XDG_CONFIG_HOME/ucx-bench/token or ~/.config/ucx-bench/token.
std::filesystem::path default_token_path();

}  // namespace ucxbench
