// Colour refinement (Weisfeiler and Leman): a node's colour is what it is, then what it is and the
// colours around it, until that tells no more nodes apart.

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <set>

#include "harness/core/hash.hpp"
#include "harness/topology/graph.hpp"
#include "harness/topology/path.hpp"

namespace ucxbench {
namespace {

using Colours = std::vector<std::uint64_t>;

std::uint64_t mix(std::uint64_t hash, std::uint64_t value) {
  for (unsigned shift = 0; shift < 64; shift += 8) {
    hash = (hash ^ (value >> shift & 0xffU)) * 1099511628211U;
  }
  return hash;
}

/// The same in whatever order they come.
std::uint64_t hash_of_all(Colours colours) {
  std::sort(colours.begin(), colours.end());
  return std::accumulate(colours.begin(), colours.end(), fnv1a(""), mix);
}

struct Edge {
  std::size_t from;
  std::size_t to;
  std::uint64_t what;
};

std::vector<Edge> edges_of(const Graph& graph) {
  std::vector<Edge> edges;
  for (const auto& link : graph.links) {
    // A port's rate is known only while it is up.
    const bool counts = link.specified_GBps && link.link_class != LinkClass::network;
    const auto capacity = counts ? fmt::format("{:.3f}", *link.specified_GBps) : std::string("?");
    edges.push_back(
        {link.from, link.to,
         fnv1a(fmt::format("{}/{}/{}", static_cast<int>(link.link_class), link.count, capacity))});
  }
  const auto devices = graph.devices();
  for (const auto a : devices) {
    for (const auto b : devices) {
      if (a != b) edges.push_back({a, b, fnv1a(to_string(class_between(graph, a, b)))});
    }
  }
  return edges;
}

std::size_t distinct(const Colours& colours) {
  return std::set<std::uint64_t>(colours.begin(), colours.end()).size();
}

Colours refine(const Colours& colours, const std::vector<Edge>& edges) {
  std::vector<Colours> around(colours.size());
  for (const auto& edge : edges) {
    around[edge.from].push_back(mix(edge.what, colours[edge.to]));
    around[edge.to].push_back(mix(~edge.what, colours[edge.from]));
  }
  Colours refined(colours.size());
  for (std::size_t i = 0; i < colours.size(); ++i) {
    refined[i] = mix(hash_of_all(std::move(around[i])), colours[i]);
  }
  return refined;
}

}  // namespace

std::string hash_of(const Graph& graph) {
  const auto edges = edges_of(graph);
  Colours colours;
  for (const auto& node : graph.nodes) {
    colours.push_back(mix(fnv1a(""), static_cast<std::uint64_t>(node.kind)));
  }
  for (std::size_t told_apart = 0; told_apart < distinct(colours);) {
    told_apart = distinct(colours);
    colours = refine(colours, edges);
  }
  return fmt::format("{:016x}", hash_of_all(std::move(colours)));
}

}  // namespace ucxbench
