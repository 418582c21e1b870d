#include "harness/topology/graph.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <tuple>

#include "harness/core/failure.hpp"
#include "harness/core/text.hpp"

namespace ucxbench {
namespace {

constexpr std::array<std::pair<std::string_view, Distance>, 11> distance_words = {
    {{"X", Distance::self},
     {"MNNVL", Distance::mnnvl},
     {"PIX", Distance::pix},
     {"PXB", Distance::pxb},
     {"PHB", Distance::phb},
     {"NODE", Distance::node},
     {"SYS", Distance::sys},
     {"NET", Distance::net},
     {"?", Distance::unknown},
     {"SOC", Distance::sys},
     {"PSB", Distance::pix}}};

/// "GPU10" → ("GPU", 10, "GPU10"): sorts by number.
std::tuple<std::string, unsigned long, std::string> natural(const std::string& name) {
  auto begin = name.size();
  while (begin > 0 && is_digit(name[begin - 1])) --begin;
  unsigned long number = 0;
  std::from_chars(name.data() + begin, name.data() + name.size(), number);
  return {name.substr(0, begin), number, name};
}

}  // namespace

std::string to_string(PathClass path_class) {
  if (path_class.distance == Distance::nvlink) return fmt::format("NV{}", path_class.nvlinks);
  const auto* word =
      std::find_if(distance_words.begin(), distance_words.end(),
                   [&](const auto& known) { return known.second == path_class.distance; });
  return std::string(word->first);
}

std::optional<PathClass> parse_path_class(std::string_view word) {
  for (const auto& [known, distance] : distance_words) {
    if (word == known) return PathClass{distance, 0};
  }
  if (!word.starts_with("NV")) return std::nullopt;
  constexpr int most = 99;
  int count = 0;
  const auto* end = word.data() + word.size();
  const auto [rest, error] = std::from_chars(word.data() + 2, end, count);
  if (error != std::errc{} || rest != end || count < 1 || count > most) return std::nullopt;
  return PathClass{Distance::nvlink, count};
}

std::size_t Graph::add(Node node) {
  if (nodes.size() == most_nodes) {
    throw Failure(Exit::usage,
                  fmt::format("more than {} devices: no machine has so many", most_nodes));
  }
  nodes.push_back(std::move(node));
  return nodes.size() - 1;
}

void Graph::connect(std::size_t a, std::size_t b, Link link) {
  link.from = a;
  link.to = b;
  links.push_back(link);
  std::swap(link.from, link.to);
  links.push_back(std::move(link));
}

void Graph::attach(std::size_t child, std::size_t parent, Link link) {
  nodes[child].up = links.size();
  connect(child, parent, std::move(link));
}

std::size_t Graph::parent_of(std::size_t node) const {
  return nodes[node].up == Node::none ? Node::none : links[nodes[node].up].to;
}

std::size_t Graph::find_name(std::string_view name) const {
  const auto found =
      std::find_if(nodes.begin(), nodes.end(), [&](const Node& node) { return node.name == name; });
  return found == nodes.end() ? Node::none : static_cast<std::size_t>(found - nodes.begin());
}

std::size_t Graph::find_pci(std::string_view pci) const {
  const auto found = std::find_if(nodes.begin(), nodes.end(), [&](const Node& node) {
    return !pci.empty() && node.pci == pci;
  });
  return found == nodes.end() ? Node::none : static_cast<std::size_t>(found - nodes.begin());
}

std::vector<std::size_t> Graph::of_kind(NodeKind kind) const {
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (nodes[i].kind == kind) found.push_back(i);
  }
  std::sort(found.begin(), found.end(), [&](std::size_t a, std::size_t b) {
    return natural(nodes[a].name) < natural(nodes[b].name);
  });
  return found;
}

std::vector<std::size_t> Graph::devices() const {
  auto found = of_kind(NodeKind::gpu);
  const auto nics = of_kind(NodeKind::nic);
  found.insert(found.end(), nics.begin(), nics.end());
  return found;
}

bool is_device_name(std::string_view name) {
  return !name.empty() && name.find(' ') == std::string_view::npos;
}

std::string ucx_device_of(const Node& nic) {
  const auto& name = nic.name.starts_with("NIC") ? nic.alias : nic.name;
  const bool interface = name.starts_with("eth") || name.starts_with("en");
  // Of HPE Slingshot, for which UCX has no transport.
  if (name.starts_with("cxi")) return "";
  return is_device_name(name) && nic.rdma.value_or(!interface) ? name + ":1" : "";
}

std::string normal_pci(std::string_view address) {
  const auto colon = address.find(':');
  if (colon == std::string_view::npos) return "";
  unsigned domain = 0;
  const auto [rest, error] = std::from_chars(address.data(), address.data() + colon, domain, 16);
  if (error != std::errc{} || rest != address.data() + colon) return "";
  const auto tail = address.substr(colon);
  constexpr std::string_view form = ":xx:xx.x";
  if (tail.size() != form.size()) return "";
  for (std::size_t i = 0; i < form.size(); ++i) {
    const auto c = static_cast<unsigned char>(tail[i]);
    if (form[i] == 'x' ? std::isxdigit(c) == 0 : tail[i] != form[i]) return "";
  }
  return fmt::format("{:04x}{}", domain, lower_case(tail));
}

}  // namespace ucxbench
