#include "harness/topology/xml.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>

#include "harness/core/failure.hpp"
#include "harness/topology/cpu_mask.hpp"
#include "harness/topology/graph.hpp"

namespace ucxbench {
namespace {

// hwloc's caches and groups are a dozen levels, PCI bridges a few more. Readers recurse.
constexpr int most_levels = 100;

struct DepthCheck : pugi::xml_tree_walker {
  bool for_each(pugi::xml_node&) override { return depth() < most_levels; }
};

std::ptrdiff_t line_at(std::string_view text, std::size_t offset) {
  return 1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(offset), '\n');
}

/// "amp" of "&amp;", "#10" of "&#10;".
bool is_xmls_own(std::string_view entity) {
  constexpr std::array<std::string_view, 5> own = {"lt", "gt", "amp", "quot", "apos"};
  if (std::find(own.begin(), own.end(), entity) != own.end()) return true;
  const bool hex = entity.starts_with("#x");
  const auto digits = entity.substr(std::min<std::size_t>(entity.size(), hex ? 2 : 1));
  return entity.starts_with('#') && !digits.empty() &&
         digits.find_first_not_of('0') != std::string_view::npos &&
         std::all_of(digits.begin(), digits.end(), [&](char c) {
           const auto byte = static_cast<unsigned char>(c);
           return (hex ? std::isxdigit(byte) : std::isdigit(byte)) != 0;
         });
}

/// pugixml leaves what it does not know as it stands, which would be a part of a name.
void check_entities(std::string_view text) {
  constexpr std::size_t most_shown = 20;
  for (auto at = text.find('&'); at != std::string_view::npos; at = text.find('&', at + 1)) {
    const auto behind = text.substr(at + 1);
    if (is_xmls_own(behind.substr(0, behind.find(';')))) continue;
    const auto end = std::min({behind.find(';'), behind.find_first_of("<\"\n "), most_shown});
    throw Failure(Exit::usage, fmt::format("line {}: '&{}' is no entity of XML's own: no tool "
                                           "writes a topology so",
                                           line_at(text, at), behind.substr(0, end)));
  }
}

bool is_set(pugi::xml_node element, const char* attribute) {
  return *element.attribute(attribute).value() != '\0';
}

std::optional<unsigned> parse_hexadecimal(std::string_view text) {
  if (text.starts_with("0x")) text.remove_prefix(2);
  unsigned number = 0;
  const auto* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number, 16);
  return error == std::errc{} && rest == end ? std::optional(number) : std::nullopt;
}

}  // namespace

pugi::xml_node parse_xml(std::string_view text, pugi::xml_document& document) {
  const auto parsed = document.load_buffer(text.data(), text.size());
  if (!parsed) {
    const auto end = std::min<std::ptrdiff_t>(parsed.offset, std::ssize(text));
    throw Failure(Exit::usage,
                  fmt::format("not whole XML: line {}: {}",
                              line_at(text, static_cast<std::size_t>(end)), parsed.description()));
  }
  check_entities(text);
  const auto root = document.document_element();
  for (auto next = root.next_sibling(); next; next = next.next_sibling()) {
    if (next.type() != pugi::node_element) continue;
    throw Failure(Exit::usage,
                  fmt::format("line {}: <{}> behind the end of <{}>: give one machine's alone",
                              line_at(text, static_cast<std::size_t>(next.offset_debug())),
                              next.name(), root.name()));
  }
  DepthCheck check;
  if (!document.traverse(check)) {
    throw Failure(Exit::usage, fmt::format("XML of more than {} levels: no machine is nested so "
                                           "deep",
                                           most_levels));
  }
  return root;
}

std::string shown(pugi::xml_node element) {
  constexpr int most_attributes = 3;
  constexpr std::size_t most_characters = 24;
  std::string text = fmt::format("<{}", element.name());
  int count = 0;
  for (const auto attribute : element.attributes()) {
    if (count++ == most_attributes) break;
    text += fmt::format(" {}=\"{}\"", attribute.name(),
                        std::string_view(attribute.value()).substr(0, most_characters));
  }
  return text + ">";
}

void refuse_attribute(pugi::xml_node element, const char* attribute, std::string_view expected) {
  throw Failure(Exit::usage, fmt::format("{}: {} is '{}', expected {}", shown(element), attribute,
                                         element.attribute(attribute).value(), expected));
}

std::optional<int> whole_number(pugi::xml_node element, const char* attribute) {
  if (!is_set(element, attribute)) return std::nullopt;
  const std::string_view text = element.attribute(attribute).value();
  int number = 0;
  const auto* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc{} || rest != end) refuse_attribute(element, attribute, "a whole number");
  return number;
}

std::optional<unsigned> hexadecimal(pugi::xml_node element, const char* attribute) {
  if (!is_set(element, attribute)) return std::nullopt;
  const auto number = parse_hexadecimal(element.attribute(attribute).value());
  if (!number) refuse_attribute(element, attribute, "a hexadecimal number");
  return number;
}

std::optional<std::vector<int>> cpu_mask(pugi::xml_node element, const char* attribute) {
  const std::string_view text = element.attribute(attribute).value();
  if (text.empty() || text.starts_with("0xf...f")) return std::nullopt;
  auto cpus = parse_cpu_mask(text);
  if (!cpus) refuse_attribute(element, attribute, "a hexadecimal mask of CPUs");
  return cpus;
}

std::string pci_address(pugi::xml_node element, const char* attribute) {
  if (!is_set(element, attribute)) return "";
  auto address = normal_pci(element.attribute(attribute).value());
  if (address.empty()) refuse_attribute(element, attribute, "a PCI address, as 0000:3b:00.0");
  return address;
}

}  // namespace ucxbench
