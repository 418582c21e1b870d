#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/core/json.hpp"

namespace ucxbench {

enum class NodeKind {
  host,
  socket,
  numa,
  host_bridge,  ///< a PCIe root complex
  bridge,       ///< a PCIe switch, or the port that several functions of one card share
  gpu,
  nic,
  nvswitch,
  network,  ///< what NICs lead to
};

enum class LinkClass {
  nvlink,
  pcie,
  socket,    ///< between sockets or NUMA nodes: QPI, UPI, xGMI
  network,   ///< a NIC's cable
  internal,  ///< inside a processor: no limit of its own
  c2c,       ///< NVLink-C2C, between a GPU and the processor that it shares a module with
};

/// "NVLink", "PCIe", "socket", "network", "internal", "NVLink-C2C".
std::string_view to_string(LinkClass link_class);

/// How far apart two devices are, near before far, in nvidia-smi's vocabulary.
enum class Distance {
  self,
  nvlink,
  mnnvl,  ///< NVLinks to a GPU of another host: multi-node NVLink, as of GB200 NVL72
  pix,    ///< at most one PCIe switch
  pxb,    ///< several PCIe switches, no host bridge
  phb,    ///< a PCIe host bridge
  node,   ///< two host bridges of one NUMA node
  sys,    ///< two NUMA nodes
  net,    ///< two hosts
  unknown,
};

struct PathClass {
  Distance distance = Distance::unknown;
  int nvlinks = 0;  ///< of Distance::nvlink and mnnvl: how many, bonded

  bool operator==(const PathClass&) const = default;
};

/// "X", "NV2", "MNNVL", "PIX", "PXB", "PHB", "NODE", "SYS", "NET", "?".
std::string to_string(PathClass path_class);

/// Of such a word; also of the older "SOC" (SYS) and "PSB" (PIX, one switch on a card of two GPUs).
/// Empty for any other, and for NV followed by anything but 1 to 99.
std::optional<PathClass> parse_path_class(std::string_view word);

struct Node {
  static constexpr auto none = static_cast<std::size_t>(-1);

  NodeKind kind = NodeKind::host;
  std::string name;   ///< as its source calls it ("GPU0", "mlx5_0"); no two have the same
  std::string alias;  ///< another name of it: a legend's, or a NIC's network device
  std::string model;
  std::string vendor;            ///< of a GPU, where its source says it: "NVIDIA", "AMD"
  std::optional<bool> rdma;      ///< of a NIC: an RDMA device, with ports; else a network interface
  std::string pci;               ///< "0000:3b:00.0"
  std::string state;             ///< of a NIC's port, in the kernel's words: "ACTIVE", "DOWN"
  std::optional<int> numa_node;  ///< the operating system's number
  std::optional<std::vector<int>> cpus;  ///< the logical CPUs nearest to it, ascending
  std::string fabric;  ///< of a GPU: the NVLink domain of several hosts that it belongs to, if any
  std::string host;    ///< whose it is, where a graph is of a run's hosts
  std::size_t up = none;  ///< the link to what it hangs from; the one back is next in the list
};

/// One direction of a connection. All capacities are payload in GB/s (1e9 bytes/s).
struct Link {
  std::size_t from = 0;
  std::size_t to = 0;
  LinkClass link_class = LinkClass::internal;
  int count = 1;                          ///< of bonded NVLinks; capacities are of all of them
  std::optional<double> specified_GBps;   ///< what the standard or the vendor promises
  std::optional<double> calibrated_GBps;  ///< the most that was measured: it may carry more
  std::optional<double> now_GBps;         ///< PCIe: as trained at the moment
  std::string source;                     ///< of the specified capacity, or why there is none
  std::string calibrated_by;              ///< source of the calibrated one
};

/// The wiring of a machine: a tree from the host down to its devices, and NVLinks and cables
/// across. Plain data; what is not known is empty, never 0.
struct Graph {
  std::string source;  ///< "this machine", "nvidia-smi topo -m"
  std::vector<Node> nodes;
  std::vector<Link> links;
  /// What the source says of a pair (the lower index first) without saying what lies between.
  std::map<std::pair<std::size_t, std::size_t>, PathClass> stated;
  /// What kind of links between GPUs the source has or leaves out that are not in `links`: "xGMI
  /// links". Then nothing is known of how fast GPUs of one host reach each other.
  std::string unread_gpu_links;
  /// What an importer has left out, or has taken although it is doubtful; a line each. Not in JSON.
  std::vector<std::string> warnings;

  /// The new node's index. Throws Failure(Exit::usage) above `most_nodes`, which no machine has.
  std::size_t add(Node node);
  static constexpr std::size_t most_nodes = 4096;

  /// Adds both directions of a link; `link` needs no ends.
  void connect(std::size_t a, std::size_t b, Link link);

  /// The same, and `child` hangs from `parent` from now on.
  void attach(std::size_t child, std::size_t parent, Link link);

  /// Node::none for what hangs from nothing.
  std::size_t parent_of(std::size_t node) const;

  /// Node::none when there is no such node.
  std::size_t find_name(std::string_view name) const;
  std::size_t find_pci(std::string_view pci) const;
  std::vector<std::size_t> of_kind(NodeKind kind) const;  ///< in the order of their numbers

  /// GPUs, then NICs, each in the order of their numbers: "GPU2" before "GPU10".
  std::vector<std::size_t> devices() const;
};

/// Whether it is a name of the system's: a device without one is called by its PCI address, as
/// "NIC 0000:3b:00.0", which no setting takes.
bool is_device_name(std::string_view name);

/// What UCX calls the first port of a NIC: "mlx5_0:1". Empty where the name is not known, and for a
/// network interface, which has no port. "NIC3" is nvidia-smi's own number, of which its legend has
/// the name.
std::string ucx_device_of(const Node& nic);

/// "0000:3b:00.0" of NVML's "00000000:3B:00.0", CUDA's and sysfs's; empty for anything else.
std::string normal_pci(std::string_view address);

/// 16 hexadecimal digits, the same for the same wiring whatever its devices are called, how they
/// are numbered, which host it is, what PCIe links have trained to and ports negotiated for now. A
/// label, not a proof.
std::string hash_of(const Graph& graph);

/// For results: {hash, source, devices, links, pairs}.
Json to_json(const Graph& graph);

/// Throws Failure(Exit::usage) when it is no such object.
Graph graph_from_json(const Json& json);

}  // namespace ucxbench
