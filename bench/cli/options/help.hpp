#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace ucxbench {

/// Makes the help of `app`, and of the commands that are added to it later: lines of at most
/// page_width columns; what holds for every option stands once, at the end.
void format_help(CLI::App& app);

/// What a command's help ends with: command lines that work, without the program's name.
void add_examples(CLI::App& command, const std::vector<std::string>& examples);

}  // namespace ucxbench
