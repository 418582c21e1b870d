#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace ucxbench {

/// Gives the options of merge or transpose that nobody set the values of a published benchmark
/// (--like NAME), with `scale` times its data; does nothing for an empty name. What was published,
/// and where ours differs, is in docs/METHOD.md. Throws Failure(Exit::usage) for an unknown name,
/// or a scale without one.
void fill_as_published(CLI::App& command, const std::string& name, double scale);

}  // namespace ucxbench
