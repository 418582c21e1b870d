#pragma once

#include <map>
#include <string>

#include "harness/result/result.hpp"

namespace ucxbench {

/// Of the table; other formats have none of it.
struct RenderOptions {
  bool color = false;     ///< ANSI colours
  bool brief = false;     ///< for a terminal: curves as charts, and a dozen of a table's rows
  bool all_rows = false;  ///< all of them, though it is brief
  bool findings = false;  ///< every finding, not the first three
};

/// One way to present a run. A format is one file that registers itself; it sees the result only,
/// so that any recorded run can be presented again.
struct Format {
  std::string name;         ///< as on the command line: "csv"
  std::string description;  ///< one line for `list formats`
  std::string (*render)(const Result& result, const RenderOptions& options);
};

/// Every format by name.
const std::map<std::string, Format>& formats();

/// The bytes of `result` in the format of that name. Throws Failure(Exit::usage) for an unknown
/// one, and for a run with a part that is not as ucx-bench writes it.
std::string render(const std::string& format, const Result& result,
                   const RenderOptions& options = {});

/// A static object of this type registers a format; the same name twice ends the program.
struct RegisterFormat {
  explicit RegisterFormat(Format format);
};

}  // namespace ucxbench
