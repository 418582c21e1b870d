#pragma once

#include <pugixml.hpp>
#include <string_view>

namespace ucxbench {

/// The root element of an XML text, which `document` keeps. Throws Failure(Exit::usage) with the
/// line where it stops being XML, or where elements are nested deeper than any machine is.
pugi::xml_node parse_xml(std::string_view text, pugi::xml_document& document);

}  // namespace ucxbench
