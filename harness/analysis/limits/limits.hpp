#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "harness/topology/graph.hpp"

namespace ucxbench {

/// By which of a link's figures: what it promises, or what was measured where it was.
enum class Basis { specification, calibration };

/// What one node has to send to another, all flows at the same time.
struct Flow {
  std::size_t from = 0, to = 0;  ///< in Graph::nodes
  double bytes = 1;              ///< 0 or more; a flow of none takes part in nothing
  /// Nodes on the way, in order. From stop to stop it takes NVLinks where both ends have them, the
  /// network from NIC to NIC, else the tree. A NUMA node or host in it is a copy in host memory.
  std::vector<std::size_t> via{};
  /// Between hosts: the NICs by which it leaves the one and enters the other. Each carries a part
  /// of every byte, as its port and the way to it are wide; without one, nobody knows them.
  struct Rails {
    std::vector<std::size_t> out{}, in{};
  };
  std::optional<Rails> rails{};
};

/// The stops of a flow by the NIC nearest to either end; empty where an end has none, or several
/// that are equally near, of which nobody knows the one that is taken.
std::vector<std::size_t> via_nearest_nics(const Graph& graph, std::size_t from, std::size_t to);

/// The stop of a flow that is copied by way of the host memory nearest to `from`.
std::vector<std::size_t> via_host_memory(const Graph& graph, std::size_t from);

/// What flows share: one direction of a link, of NVLinks side by side, or a host memory.
struct SharedResource {
  std::string name;            ///< "PCIe GPU0 -> bridge", "NVLinks GPU0 -> NVSwitches"
  std::optional<double> GBps;  ///< GB/s (1e9 bytes/s); empty if unknown
  std::string source;          ///< of the figure, or why there is none
  double bytes = 0;            ///< of all flows together
  /// Empty for a host memory, and where no link is known.
  std::optional<LinkClass> link_class{};
  std::size_t from = Node::none, to = Node::none;  ///< its ends; none: all switches of the host
  std::vector<std::size_t> links{};                ///< in Graph::links, that it is made of
  bool calibrated = false;                         ///< the figure, or a part of it, was measured

  /// How long it is busy at least; empty if its capacity is unknown.
  std::optional<double> seconds() const;
};

struct FlowLimit {
  /// Resources, and how much of each byte crosses them: parts over NVLinks side by side, twice
  /// for a host memory, which is written and read.
  std::vector<std::pair<std::size_t, double>> uses{};
  bool complete = true;  ///< the capacities of all of them are known
  /// While nothing else is under way, GB/s; at most that, unless complete. Empty where nothing is
  /// known, and for a flow to oneself, which crosses no link.
  std::optional<double> alone_GBps{};
  std::optional<std::size_t> alone_by{};  ///< the resource that says so
};

struct Limits {
  std::vector<SharedResource> resources{};  ///< those that flows cross, in the order of the flows
  std::vector<FlowLimit> flows{};           ///< as they were given
  /// By these routes no order of sending can take less than max over resources of bytes / capacity.
  /// Empty where no capacity is known. Where some are unknown it holds too, but is further from the
  /// truth.
  std::optional<double> seconds{};
  std::optional<std::size_t> bottleneck{};  ///< the resource that says so
  std::vector<std::size_t> unknown{};       ///< resources with something to carry, of no capacity
};

/// Links carry both directions at once. Throws std::invalid_argument for bytes that are negative or
/// not finite, and nodes that do not exist.
Limits limits_of(const Graph& graph, const std::vector<Flow>& flows,
                 Basis basis = Basis::specification);

/// The same of resources and uses of them that are known already, `uses` being of `flows`; without
/// a graph, the ends of a flow mean nothing.
Limits limits_over(std::vector<SharedResource> resources, std::vector<FlowLimit> uses,
                   const std::vector<Flow>& flows);

/// What `flows`, which `limits` are of, reach together at best, GB/s; empty where nothing is known.
std::optional<double> together_GBps(const std::vector<Flow>& flows, const Limits& limits);

/// By flow, GB/s while all of `flows`, which `limits` are of, are under way, shared fairly
/// (max-min): none could have more without taking it from one that has no more itself. No bound:
/// another order of sending can give one flow more. Empty for flows of no bytes and where nothing
/// is known; resources of unknown capacity do not hold a flow back.
std::vector<std::optional<double>> fair_shares(const std::vector<Flow>& flows,
                                               const Limits& limits);

}  // namespace ucxbench
