#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "harness/analysis/imports/matrix_text.hpp"
#include "harness/core/units.hpp"
#include "harness/topology/build.hpp"

namespace ucxbench {
namespace {

constexpr const char* no_speeds = "PCIe speed unknown: nvidia-smi topo -m has none";
constexpr const char* no_models =
    "NVLink's generation unknown: put what nvidia-smi -L prints before the matrix";

/// Which devices belong together, by their indices.
class Groups {
 public:
  explicit Groups(std::size_t count) : leader_(count) {
    std::iota(leader_.begin(), leader_.end(), std::size_t{0});
  }

  void join(std::size_t a, std::size_t b) {
    const auto from = std::max(leader_[a], leader_[b]);
    const auto to = std::min(leader_[a], leader_[b]);
    std::replace(leader_.begin(), leader_.end(), from, to);
  }

  /// By the first member.
  std::map<std::size_t, std::vector<std::size_t>> members() const {
    std::map<std::size_t, std::vector<std::size_t>> groups;
    for (std::size_t i = 0; i < leader_.size(); ++i) groups[leader_[i]].push_back(i);
    return groups;
  }

 private:
  std::vector<std::size_t> leader_;
};

class Builder {
 public:
  explicit Builder(const Matrix& matrix)
      : matrix_(matrix),
        groups_(matrix.devices.size()),
        graph_(graph_of_host("nvidia-smi topo -m")) {}

  Graph build() {
    for (const auto& device : matrix_.devices) add(device);
    gather(Distance::pix, NodeKind::bridge, "switch");
    gather(Distance::pxb, NodeKind::bridge, "upper switch");
    gather(Distance::phb, NodeKind::host_bridge, "host bridge");
    attach_to_numa_nodes();
    add_nvlinks_of_all();
    for (const auto& [pair, path_class] : matrix_.classes) {
      // Devices are the nodes behind the host.
      graph_.stated[{pair.first + 1, pair.second + 1}] = path_class;
    }
    if (matrix_.without_nvlinks) graph_.unread_gpu_links = "NVLinks";
    graph_.warnings = matrix_.warnings;
    return std::move(graph_);
  }

 private:
  void add(const MatrixDevice& device) {
    Node node;
    node.kind = device.is_gpu() ? NodeKind::gpu : NodeKind::nic;
    node.name = device.name;
    node.alias = device.alias;
    node.model = device.model;
    node.cpus = device.cpus;
    node.numa_node = device.numa_node;
    tops_.push_back(graph_.add(std::move(node)));
  }

  void join(Distance distance) {
    for (const auto& [pair, path_class] : matrix_.classes) {
      if (path_class.distance == distance) groups_.join(pair.first, pair.second);
    }
  }

  std::vector<std::size_t> tops_of(const std::vector<std::size_t>& members) const {
    std::vector<std::size_t> tops;
    for (const auto member : members) tops.push_back(tops_[member]);
    std::sort(tops.begin(), tops.end());
    tops.erase(std::unique(tops.begin(), tops.end()), tops.end());
    return tops;
  }

  /// One node above those that are at most so far from each other.
  void gather(Distance distance, NodeKind kind, std::string_view what) {
    join(distance);
    for (const auto& [first, members] : groups_.members()) {
      const auto tops = tops_of(members);
      if (tops.size() == 1) continue;
      Node node;
      node.kind = kind;
      node.name = free_name(graph_, fmt::format("{} of {}", what, matrix_.devices[first].name));
      const auto above = graph_.add(std::move(node));
      for (const auto top : tops) attach_pcie(graph_, top, above, std::nullopt, no_speeds);
      for (const auto member : members) tops_[member] = above;
    }
  }

  void attach_to_numa_nodes() {
    join(Distance::node);
    std::vector<std::size_t> numas;
    for (const auto& [first, members] : groups_.members()) {
      const auto tops = tops_of(members);
      const auto numa = numa_of(members, tops.size() > 1, numas);
      for (const auto top : tops) {
        if (graph_.nodes[top].kind == NodeKind::host_bridge) {
          attach_inside(graph_, top, numa);
        } else {
          attach_pcie(graph_, top, numa, std::nullopt, no_speeds);
        }
      }
    }
    for (const auto numa : numas) {
      if (numas.size() == 1) {
        attach_inside(graph_, numa, 0);
      } else {
        attach_across(graph_, numa, 0, "links between sockets unknown");
      }
    }
  }

  /// The NUMA node of devices that are near each other, by what is said of any of them. Where
  /// nothing is said, there must be one if they have `several` host bridges; else the host.
  std::size_t numa_of(const std::vector<std::size_t>& members, bool several,
                      std::vector<std::size_t>& numas) {
    const auto with = [&](auto known) {
      const auto found = std::find_if(members.begin(), members.end(), [&](std::size_t member) {
        return known(matrix_.devices[member]);
      });
      return found == members.end() ? nullptr : &matrix_.devices[*found];
    };
    const auto* numbered = with([](const auto& device) { return device.numa_node.has_value(); });
    const auto* near = with([](const auto& device) { return device.cpus.has_value(); });
    if (numbered == nullptr && near == nullptr && !several) return 0;
    Node node;
    node.kind = NodeKind::numa;
    if (near != nullptr) node.cpus = near->cpus;
    if (numbered != nullptr) {
      node.numa_node = numbered->numa_node;
      node.name = fmt::format("NUMA{}", *node.numa_node);
    } else if (near != nullptr) {
      node.name = "CPUs " + format_list(*node.cpus);
    } else {
      node.name = "NUMA of " + matrix_.devices[members.front()].name;
    }
    const auto known = graph_.find_name(node.name);
    if (known != Node::none && graph_.nodes[known].kind == NodeKind::numa) return known;
    node.name = free_name(graph_, node.name);
    numas.push_back(graph_.add(std::move(node)));
    return numas.back();
  }

  void add_nvlinks_of_all() {
    std::map<std::size_t, std::map<std::size_t, int>> counts;
    for (const auto& [pair, path_class] : matrix_.classes) {
      if (path_class.distance != Distance::nvlink) continue;
      counts[pair.first][pair.second + 1] = path_class.nvlinks;
      counts[pair.second][pair.first + 1] = path_class.nvlinks;
    }
    const bool switched = std::any_of(counts.begin(), counts.end(), [&](const auto& of) {
      return links_of(of.second) > most_nvlinks(generation_of(of.first));
    });
    for (const auto& [device, others] : counts) {
      if (!switched) {
        add_nvlinks(graph_, device + 1, others, generation_of(device), no_models);
        continue;
      }
      // All of a GPU's links lead into the switches, whoever is behind them.
      int most = 0;
      for (const auto& [other, count] : others) most = std::max(most, count);
      add_nvlinks(graph_, device + 1, {{switch_at(graph_, ""), most}}, generation_of(device),
                  no_models);
    }
  }

  static int links_of(const std::map<std::size_t, int>& counts) {
    int sum = 0;
    for (const auto& [other, count] : counts) sum += count;
    return sum;
  }

  const LinkSpecification* generation_of(std::size_t device) const {
    return nvlink_of_model(matrix_.devices[device].model);
  }

  const Matrix& matrix_;
  Groups groups_;
  Graph graph_;
  std::vector<std::size_t> tops_;  ///< by device: the highest node above it so far
};

}  // namespace

Graph graph_of_matrix(const Matrix& matrix) { return Builder(matrix).build(); }

}  // namespace ucxbench
