#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ucxbench {

// Text from files, programs and command lines, made literal for each kind of output: one function
// of each. What may draw, move or hide on a terminal is spelt out in all of them ("\x1b",
// "\u202e"): control characters of C0 and C1, marks of writing direction, line separators and what
// is no UTF-8. So every output may also be shown on a terminal.

/// For a terminal: newlines and tabs stay.
std::string for_terminal(std::string_view text);

/// The same on one line: newlines and tabs become blanks.
std::string on_one_line(std::string_view text);

/// For Markdown as GitHub has it, within a line or a cell: no markup, link or formula.
std::string for_markdown(std::string_view text);

/// A field of RFC 4180. A text that a spreadsheet would compute is begun by an apostrophe.
std::string for_csv(std::string_view text);

/// The text or an attribute's value of XML 1.0.
std::string for_xml(std::string_view text);

/// The value of a label of Prometheus, without its quotes.
std::string for_label(std::string_view text);

/// One word of a POSIX shell, always quoted.
std::string for_shell(std::string_view text);

/// A command for a POSIX shell, with quotes where a word needs them.
std::string command_line(const std::vector<std::string>& words);

/// A string of YAML, JSON or TOML with its quotes.
std::string for_yaml(std::string_view text);

/// JSON that is complete: its strings are the same, spelt with escapes.
std::string for_json_text(std::string json);

}  // namespace ucxbench
