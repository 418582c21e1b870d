#include "harness/comm/mpi_settings.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "harness/core/text.hpp"

namespace ucxbench {
namespace {

bool over_ucx(const TransportSet& set) {
  return set.names(Fabric::rdma) || set.names(Fabric::gpu_links);
}

// UCX's names of InfiniBand devices have a port.
std::string network_interfaces(const std::string& net_devices) {
  std::vector<std::string_view> names;
  for (const auto name : split_text(net_devices, ',')) {
    if (name != "all" && name.find(':') == std::string_view::npos) names.push_back(name);
  }
  return fmt::format("{}", fmt::join(names, ","));
}

}  // namespace

std::vector<UcxSetting> mpi_settings(const TransportSet& set, const SetUse& use, bool crowded) {
  std::vector<UcxSetting> all;
  if (over_ucx(set)) {
    all = ucx_settings(set, use);
    all.push_back({"OMPI_MCA_pml", "ucx", "Open MPI's way to InfiniBand and NVLink"});
    for (const auto* what : {"tls", "devices"}) {
      all.push_back({fmt::format("OMPI_MCA_opal_common_ucx_{}", what), "any",
                     "UCX_TLS and UCX_NET_DEVICES say which"});
    }
  } else if (!set.names(Fabric::any)) {
    all.push_back({"OMPI_MCA_pml", "ob1", "what sends by Open MPI's own transports, the btl"});
    all.push_back({"OMPI_MCA_btl",
                   fmt::format("self{}{}", set.names(Fabric::shared_memory) ? ",vader" : "",
                               set.names(Fabric::sockets) ? ",tcp" : ""),
                   "the transports of the set: vader is shared memory"});
  }
  const auto interfaces = network_interfaces(use.net_devices);
  if (!interfaces.empty()) {
    all.push_back({"OMPI_MCA_btl_tcp_if_include", interfaces, "the devices of --net-devices"});
  }
  all.push_back({"OMPI_MCA_mpi_yield_when_idle", crowded ? "1" : "0",
                 crowded ? "ranks outnumber the CPUs" : "each rank has a CPU"});
  all.push_back({"OMPI_MCA_opal_signal", "", "a rank's crash is the supervisor's to explain"});
  return all;
}

std::string why_no_mpi(const MpiFound& found, const TransportSet& set, bool gpu_memory,
                       const SetUse& use) {
  if (!found.why_not.empty()) return found.why_not;
  if (!use.one_host) return "mpi: its ranks are on one host; leave the other hosts out";
  if (use.sockaddr) return "--connect-by sockaddr is UCX's: MPI connects its ranks by itself";
  if (over_ucx(set) && !found.over_ucx) {
    return fmt::format("mpi: over ib and nvlink Open MPI takes its pml ucx, which {} here lacks",
                       found.library);
  }
  if (gpu_memory && !found.gpu_memory) {
    return fmt::format("mpi: {} here says that it takes the host's memory only", found.library);
  }
  const bool any =
      over_ucx(set) || set.may_use(Fabric::sockets) || set.may_use(Fabric::shared_memory);
  return any ? "" : "mpi: between ranks it carries messages over tcp and shm";
}

}  // namespace ucxbench
