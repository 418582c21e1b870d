#pragma once

#include <string>
#include <vector>

#include "harness/analysis/expectations.hpp"
#include "harness/analysis/node_class.hpp"

namespace ucxbench {

/// What a site expects of a machine.
struct SiteFile {
  int ranks = 2;                          ///< 2 to 1024
  std::vector<NodeClass> nodes{};         ///< their names differ, and so do what they have
  std::vector<Expectation> expectations;  ///< at least one
};

/// Reads `ranks`, [[node]] and [[expect]] from a TOML file. Throws Failure(Exit::usage), with file
/// and line, for one that cannot be read, is not TOML, has another key, an unknown transport,
/// memory or class, an [[expect]] without a limit, or of a node that is none of [[node]].
SiteFile read_site(const std::string& file);

/// The TOML text of a site's file, below `comment`, one line of which is "# …".
std::string site_text(const SiteFile& site, const std::string& comment);

/// The same without `ranks`: what such a file is made longer by.
std::string more_site_text(const SiteFile& site, const std::string& comment);

/// Null where the file has no such class.
const NodeClass* find_class(const SiteFile& site, const NodeClass& node);

}  // namespace ucxbench
