#pragma once

// What all that make a graph share.

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "harness/topology/graph.hpp"
#include "harness/topology/link_specifications.hpp"

namespace ucxbench {

/// A graph of one node, the host.
Graph graph_of_host(std::string source);

/// `name`, or where that is taken `name` with the number of nodes so far behind it.
std::string free_name(const Graph& graph, const std::string& name);

/// Refuses a name that another node has, which only a damaged source gives to two devices.
void check_free(const Graph& graph, const std::string& name);

/// Within a processor.
void attach_inside(Graph& graph, std::size_t child, std::size_t parent);

/// Across sockets, so with no capacity that software could find out; `why` says that.
void attach_across(Graph& graph, std::size_t child, std::size_t parent, const std::string& why);

/// `why` says why there is no capacity, where there is none.
void attach_pcie(Graph& graph, std::size_t child, std::size_t parent,
                 const std::optional<Capacity>& capacity, const std::string& why);

/// From now on the way from that GPU up to its host bridge is NVLink-C2C; the PCIe link beside it,
/// which UCX does not use together with it, is no part of the capacity.
void set_c2c(Graph& graph, std::size_t gpu, const Capacity& capacity);

/// A NIC's cable to the network, of which there is one.
void attach_cable(Graph& graph, std::size_t nic, const std::optional<Capacity>& capacity);

/// The NVSwitch at that address, made if need be; without one, the switch that is not visible.
std::size_t switch_at(Graph& graph, const std::string& pci);

/// The NVLinks that a GPU has, as many as `counts` says to each other GPU or switch. Of two GPUs
/// each adds its own direction; with a switch both are added. `why` stands for a generation that is
/// not known.
void add_nvlinks(Graph& graph, std::size_t gpu, const std::map<std::size_t, int>& counts,
                 const LinkSpecification* generation,
                 const std::string& why = "NVLink's generation unknown");

/// What is known of the links between sockets of such processors.
std::string socket_link_text(std::string_view vendor, int family, int model);

/// Whether a device on PCI of that vendor and class (0x0302) is a GPU that jobs compute on. AMD's
/// are display controllers other than VGA, or accelerators: its VGA adapters are the chips that
/// manage servers, and GPUs inside of processors or for screens. Without a vendor, as 0, only the
/// class speaks.
bool is_gpu_for_jobs(unsigned vendor, unsigned device_class);

/// "NVIDIA", "AMD"; empty for others.
std::string gpu_vendor(unsigned vendor);

/// Gives GPUs without a name the lowest free ones, GPU0 and on, in the order of their PCI
/// addresses; where others have one, a warning says so.
void name_gpus(Graph& graph);

}  // namespace ucxbench
