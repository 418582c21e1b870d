#include "harness/comm/transport_set.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include "harness/core/failure.hpp"
#include "harness/core/text.hpp"

namespace ucxbench {
namespace {

std::string where_ucx_is(const UcxResources& resources) {
  return fmt::format("UCX {} ({})", resources.version, resources.library);
}

std::string why_missing(const std::string& member, const UcxResources& resources) {
  const auto ucx = where_ucx_is(resources);
  if (member == "nvlink") {
    if (!resources.has_component("cuda_ipc") && !resources.has_component("cuda_ipc_md")) {
      return fmt::format(
          "nvlink: {} has no usable cuda_ipc: built without CUDA, or no CUDA driver "
          "(libcuda.so.1) on this machine",
          ucx);
    }
    return fmt::format("nvlink: {} finds no GPU for cuda_ipc", ucx);
  }
  if (member == "ib") {
    if (!resources.has_component("ib")) {
      return fmt::format("ib: {} was built without InfiniBand (verbs)", ucx);
    }
    return std::filesystem::exists("/sys/class/infiniband")
               ? fmt::format("ib: {} finds no InfiniBand port that is up (ibv_devinfo)", ucx)
               : fmt::format("ib: no RDMA device on this machine (no /sys/class/infiniband)");
  }
  return fmt::format("{}: {} has no such transport on this machine (ucx_info -d)", member, ucx);
}

bool available(const std::string& member, const UcxResources& resources) {
  if (member == "auto") return true;
  if (member == "shm") return resources.has_transport("posix") || resources.has_transport("sysv");
  if (member == "nvlink") return resources.has_transport("cuda_ipc");
  if (member == "ib") {
    return std::any_of(
        resources.resources.begin(), resources.resources.end(),
        [](const UcxResource& resource) { return resource.transport.starts_with("rc_"); });
  }
  return resources.has_transport(member);
}

}  // namespace

const std::vector<TransportName>& transport_names() {
  static const std::vector<TransportName> names = {
      {"self", "self", "a rank with itself, inside one process (with -n 1)"},
      {"shm", "sm", "shared memory and copies between processes of one host (posix, sysv, cma, …)"},
      {"tcp", "tcp", "TCP sockets on the devices of --net-devices"},
      {"nvlink", "cuda_copy,cuda_ipc",
       "GPU to GPU by CUDA IPC: NVLink, or PCIe where there is none"},
      {"ib", "rc", "InfiniBand or RoCE, reliable connection"},
      {"auto", "all", "whatever UCX chooses by itself"}};
  return names;
}

TransportSet TransportSet::parse(std::string_view text) {
  TransportSet set;
  std::vector<std::string_view> given;
  for (const auto part : split_text(text, ',')) {
    const auto& names = transport_names();
    if (std::none_of(names.begin(), names.end(), [&](const auto& n) { return n.name == part; })) {
      std::vector<std::string> known;
      for (const auto& name : names) known.emplace_back(name.name);
      throw Failure(Exit::usage,
                    fmt::format("--transports: {}", unknown_name("transport", part, known)));
    }
    given.push_back(part);
  }
  for (const auto& known : transport_names()) {
    if (std::find(given.begin(), given.end(), known.name) != given.end()) {
      set.members_.emplace_back(known.name);
    }
  }
  if (set.has("auto") && set.members_.size() > 1) {
    throw Failure(
        Exit::usage,
        fmt::format("--transports {}: 'auto' is everything that UCX has and stands alone", text));
  }
  return set;
}

bool TransportSet::has(std::string_view member) const {
  return std::find(members_.begin(), members_.end(), member) != members_.end();
}

std::string TransportSet::name() const { return fmt::format("{}", fmt::join(members_, "+")); }

std::vector<UcxSetting> ucx_settings(const TransportSet& set, const std::string& net_devices,
                                     bool sockaddr) {
  std::vector<std::string> tls;
  for (const auto& known : transport_names()) {
    if (set.has(known.name)) tls.emplace_back(known.ucx_tls);
  }
  std::vector<UcxSetting> settings = {
      {"UCX_TLS", fmt::format("{}", fmt::join(tls, ",")), "--transports " + set.name()}};
  if (!net_devices.empty()) {
    settings.push_back({"UCX_NET_DEVICES", net_devices,
                        "else UCX stripes over every device, and listens on each"});
  }
  if (sockaddr) {
    settings.push_back({"UCX_SOCKADDR_TLS_PRIORITY", "tcp", "--connect-by sockaddr"});
  }
  return settings;
}

std::vector<std::string> missing(const TransportSet& set, const UcxResources& resources,
                                 bool sockaddr) {
  std::vector<std::string> reasons;
  for (const auto& member : set.members()) {
    if (!available(member, resources)) reasons.push_back(why_missing(member, resources));
  }
  // UCX refuses a listener's address on a device that no enabled transport uses.
  if (sockaddr && !set.has("tcp") && !set.has("ib") && !set.has("auto")) {
    reasons.push_back(fmt::format(
        "{}: --connect-by sockaddr needs a network device, as tcp or ib in the set", set.name()));
  }
  return reasons;
}

bool carries(const TransportSet& set, std::string_view ucx_name) {
  if (set.has("auto")) return true;
  constexpr std::array shm = {"posix", "sysv", "cma", "knem", "xpmem"};
  if (std::find(shm.begin(), shm.end(), ucx_name) != shm.end()) return set.has("shm");
  if (ucx_name == "cuda_ipc" || ucx_name == "cuda_copy") return set.has("nvlink");
  // UD makes the connection of rc endpoints that are set up by worker address.
  if (ucx_name.starts_with("rc_") || ucx_name.starts_with("ud_")) return set.has("ib");
  return set.has(ucx_name);
}

}  // namespace ucxbench
