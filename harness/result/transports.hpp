#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ucxbench {

/// The kind of way that a transport's bytes take.
enum class Fabric {
  unknown,        ///< no transport has this name
  process,        ///< they stay in one process
  shared_memory,  ///< between processes of a host
  sockets,        ///< through the kernel's network stack
  gpu_links,      ///< from GPU to GPU
  rdma,           ///< from adapter to adapter
  any             ///< the library chooses
};

/// All that is known of one name that `--transports` accepts. What differs between transports
/// follows from here or from the fabric.
struct Transport {
  std::string_view name;
  Fabric fabric;
  std::string_view ucx_tls;  ///< what UCX_TLS gets for it
  std::string_view description;
  /// What carries its payload, as lanes are named: "posix" of "posix/memory". One that ends in '_'
  /// stands for all that begin so. UCX has the transport where it has one of `needed`.
  std::vector<std::string_view> lanes{};
  std::vector<std::string_view> needed{};
  std::vector<std::string_view> also_called{};  ///< what people type for it, besides lanes
  std::string_view carrier{};                   ///< the lane's name, where it is printed instead
  // How to get it where UCX lacks it.
  std::string_view component{};  ///< of UCX; empty: of its core
  std::string_view module{};     ///< which brings the component: "libuct_ib.so"
  std::string_view without{};    ///< "built without …; one with it: …"
  std::string_view none_here = "has no such transport on this machine (ucx_info -d)";
};

/// In the order in which a set's members stand.
const std::vector<Transport>& transports();

/// By its name in `--transports`; nullptr if there is none.
const Transport* find_transport(std::string_view name);
Fabric fabric_of(std::string_view name);
/// By what UCX or people call it, "rc_mlx5" or "roce"; nullptr if that is none's.
const Transport* transport_called(std::string_view name);

/// Whether a lane's or resource's transport, "rc_mlx5", is one of these names of a record.
bool is_called(std::string_view lane, const std::vector<std::string_view>& names);

/// Whether one of these members is of this fabric, and that or leaves the choice to UCX.
bool names_fabric(const std::vector<std::string>& members, Fabric fabric);
bool may_use(const std::vector<std::string>& members, Fabric fabric);

/// The transport whose payload a lane carries, "ib" for "rc_mlx5/mlx5_0:1" or "rc_mlx5".
/// "staging" for cuda_copy and gdr_copy, which move bytes between a GPU and its host for any;
/// "wireup" for ud, which makes rc's connections; the lane's own name if unknown.
std::string transport_of_lane(std::string_view lane);

/// One value in UCX_TLS, and why it is there if no member of the set asks for it.
struct TlsValue {
  std::string name, why{};
};
/// UCX_TLS for a set of these members. `gpu_memory`: messages come from or go to GPU or managed
/// memory. `one_host`: all ranks are on one.
std::vector<TlsValue> ucx_tls(const std::vector<std::string>& members, bool gpu_memory,
                              bool one_host);

}  // namespace ucxbench
