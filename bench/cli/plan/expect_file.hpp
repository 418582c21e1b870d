#pragma once

#include <string>
#include <vector>

#include "harness/analysis/expectations.hpp"

namespace ucxbench {

/// What a site expects of a machine.
struct SiteFile {
  int ranks = 2;                          ///< 2 to 1024
  std::vector<Expectation> expectations;  ///< at least one
};

/// Reads `ranks` and [[expect]] from a TOML file. Throws Failure(Exit::usage), with file and line,
/// for one that cannot be read, is not TOML, has another key, an unknown transport, memory or
/// class, or an [[expect]] without a limit.
SiteFile read_site(const std::string& file);

/// The TOML text of a site's file, below `comment`, one line of which is "# …".
std::string site_text(const SiteFile& site, const std::string& comment);

}  // namespace ucxbench
