#include "harness/topology/xml.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "harness/core/failure.hpp"

namespace ucxbench {
namespace {

// hwloc's caches and groups are a dozen levels, PCI bridges a few more. Readers recurse.
constexpr int most_levels = 100;

struct DepthCheck : pugi::xml_tree_walker {
  bool for_each(pugi::xml_node&) override { return depth() < most_levels; }
};

}  // namespace

pugi::xml_node parse_xml(std::string_view text, pugi::xml_document& document) {
  const auto parsed = document.load_buffer(text.data(), text.size());
  if (!parsed) {
    const auto end = text.begin() + std::min<std::ptrdiff_t>(parsed.offset, std::ssize(text));
    throw Failure(Exit::usage,
                  fmt::format("not whole XML: line {}: {}", 1 + std::count(text.begin(), end, '\n'),
                              parsed.description()));
  }
  DepthCheck check;
  if (!document.traverse(check)) {
    throw Failure(Exit::usage, fmt::format("XML of more than {} levels: no machine is nested so "
                                           "deep",
                                           most_levels));
  }
  return document.document_element();
}

}  // namespace ucxbench
