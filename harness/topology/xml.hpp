#pragma once

#include <optional>
#include <pugixml.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace ucxbench {

/// The root element of an XML text, which `document` keeps. Throws Failure(Exit::usage) with the
/// line where it stops being XML, where it uses entities other than XML's own, or where elements
/// are nested deeper than any machine is.
pugi::xml_node parse_xml(std::string_view text, pugi::xml_document& document);

/// An element by its name and first attributes, for messages.
std::string shown(pugi::xml_node element);

/// Throws Failure(Exit::usage): `attribute` is not what was expected.
[[noreturn]] void refuse_attribute(pugi::xml_node element, const char* attribute,
                                   std::string_view expected);

// Each is empty where there is no such attribute, or an empty one, and refuses what it cannot read.

std::optional<int> whole_number(pugi::xml_node element, const char* attribute);
/// "0x030200", "0302".
std::optional<unsigned> hexadecimal(pugi::xml_node element, const char* attribute);
/// Also empty for hwloc's infinite masks.
std::optional<std::vector<int>> cpu_mask(pugi::xml_node element, const char* attribute);
/// As normal_pci().
std::string pci_address(pugi::xml_node element, const char* attribute);

}  // namespace ucxbench
