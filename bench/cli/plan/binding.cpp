#include "bench/cli/plan/binding.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <ifaddrs.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstring>
#include <memory>

#include "harness/core/failure.hpp"
#include "harness/core/files.hpp"
#include "harness/core/text.hpp"
#include "harness/core/units.hpp"
#include "harness/topology/cpus.hpp"
#include "harness/transports/rdma_ports.hpp"

namespace ucxbench {
namespace {

bool same_host(const sockaddr* a, const sockaddr* b) {
  if (a == nullptr || a->sa_family != b->sa_family) return false;
  if (a->sa_family == AF_INET) {
    return std::memcmp(&reinterpret_cast<const sockaddr_in*>(a)->sin_addr,
                       &reinterpret_cast<const sockaddr_in*>(b)->sin_addr, sizeof(in_addr)) == 0;
  }
  return a->sa_family == AF_INET6 &&
         std::memcmp(&reinterpret_cast<const sockaddr_in6*>(a)->sin6_addr,
                     &reinterpret_cast<const sockaddr_in6*>(b)->sin6_addr, sizeof(in6_addr)) == 0;
}

}  // namespace

std::vector<std::vector<int>> cpus_of_ranks(const std::string& bind, int ranks, int threads) {
  if (bind == "auto") return bind_automatically(ranks, threads);
  std::vector<std::vector<int>> cpus(static_cast<std::size_t>(ranks));
  if (bind == "none") return cpus;
  std::vector<int> list;
  try {
    list = parse_list(bind);
  } catch (const Failure& failure) {
    throw Failure(failure.exit(), fmt::format("--bind: {}, auto or none", failure.what()));
  }
  const auto allowed = allowed_cpus();
  if (list.size() != cpus.size()) {
    throw Failure(Exit::usage, fmt::format("--bind {}: expected one CPU for each of the {} ranks, "
                                           "auto or none",
                                           bind, ranks));
  }
  for (std::size_t rank = 0; rank < cpus.size(); ++rank) {
    if (std::find(allowed.begin(), allowed.end(), list[rank]) == allowed.end()) {
      auto sorted = allowed;
      std::sort(sorted.begin(), sorted.end());
      throw Failure(Exit::usage, fmt::format("--bind {}: CPU {} is not available; this process may "
                                             "use {}",
                                             bind, list[rank], format_list(sorted)));
    }
    cpus[rank] = {list[rank]};
  }
  return cpus;
}

std::vector<std::vector<int>> cpus_of_seat(const std::string& bind, int ranks, int threads,
                                           const Seat& seat) {
  if (bind != "auto" || seat.of == 1) return cpus_of_ranks(bind, ranks, threads);
  const auto all = cpus_of_ranks(bind, ranks * seat.of, threads);
  const auto begin = all.begin() + std::ptrdiff_t{ranks} * seat.index;
  return {begin, begin + ranks};
}

std::string net_devices_of(const std::string& option, const TransportSet& set,
                           const std::string& route, bool check,
                           const std::filesystem::path& infiniband) {
  if (option == "auto" || option == "nearest") {
    if (!set.may_use(Fabric::sockets)) return "";
    std::vector<std::string> devices = {route};
    // The list holds for every transport: without its ports the set would have no InfiniBand.
    if (!set.names(Fabric::sockets) || set.names(Fabric::rdma)) {
      const auto ports = active_rdma_ports(infiniband);
      devices.insert(devices.end(), ports.begin(), ports.end());
    }
    return route == "all" ? route : fmt::format("{}", fmt::join(devices, ","));
  }
  if (!check || option == "all") return option;
  auto known = entries_of("/sys/class/net");
  for (const auto& device : entries_of(infiniband)) known.push_back(device);
  for (const auto name : split_text(option, ',')) {
    const auto device = std::string(name.substr(0, name.find(':')));
    if (std::find(known.begin(), known.end(), device) == known.end()) {
      throw Failure(Exit::usage, "--net-devices: " + unknown_name("network device", device, known));
    }
  }
  return option;
}

void refuse_nearest(const std::string& option) {
  if (option != "nearest") return;
  throw Failure(Exit::usage,
                "--net-devices nearest: for ranks of one machine; with --listen and --connect name "
                "the device");
}

std::string device_of_connection(int socket) {
  sockaddr_storage own{};
  socklen_t length = sizeof own;
  ifaddrs* all = nullptr;
  if (getsockname(socket, reinterpret_cast<sockaddr*>(&own), &length) != 0 ||
      getifaddrs(&all) != 0) {
    return "all";
  }
  const std::unique_ptr<ifaddrs, decltype(&freeifaddrs)> release(all, &freeifaddrs);
  for (const auto* entry = all; entry != nullptr; entry = entry->ifa_next) {
    if (same_host(entry->ifa_addr, reinterpret_cast<const sockaddr*>(&own))) return entry->ifa_name;
  }
  return "all";
}

}  // namespace ucxbench
