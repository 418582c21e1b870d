#include "harness/analysis/rules/used.hpp"

#include <algorithm>
#include <map>

#include "harness/analysis/wired_hosts.hpp"
#include "harness/result/cases.hpp"
#include "harness/result/labels.hpp"
#include "harness/result/paths.hpp"
#include "harness/result/transports.hpp"
#include "harness/result/words.hpp"

namespace ucxbench {
namespace {

constexpr unsigned everything = ~0U;

std::string without_port(const std::string& device) { return device.substr(0, device.find(':')); }

/// What a member of a set may use, or one of what carried.
unsigned use_of_transport(std::string_view transport) {
  switch (fabric_of(transport)) {
    case Fabric::shared_memory:
      return over_shm;
    case Fabric::sockets:
      return over_tcp;
    case Fabric::gpu_links:
      return over_nvlink;
    case Fabric::rdma:
      return over_ib;
    case Fabric::any:
      return over_shm | over_tcp | over_nvlink | over_ib;
    case Fabric::process:
    case Fabric::unknown:
      break;
  }
  return 0;
}

/// Of a lane, "sysv/memory". InfiniBand's connections are made by lanes that carry no payload.
unsigned use_of_lane(const std::string& lane) {
  const auto transport = transport_of_lane(lane);
  return transport == "wireup" ? unsigned{over_ib} : use_of_transport(transport);
}

/// A parameter's values; none where the case has no such parameter.
std::vector<std::string> values_of(const Case& of, const char* parameter) {
  const auto found = of.parameters.find(parameter);
  return found == of.parameters.end() ? std::vector<std::string>() : texts_of(*found);
}

unsigned asked_uses(const Case& of) {
  unsigned uses = 0;
  for (const auto& member : values_of(of, "transports")) {
    uses |= use_of_transport(member);
  }
  return uses;
}

class Users {
 public:
  Users(const Result& result, const Graph& graph) : result_(result), graph_(graph) {}

  void add(const Case& of) {
    hosts_ = hosts_of_ranks(result_, of);
    unsigned carried = of.launches.empty() ? asked_uses(of) : 0;
    const bool sent_nothing = number_at(of.exchange, "bytes") == 0.0;
    for (const auto& record : of.launches) {
      if (sent_nothing) break;
      const auto uses = uses_of(of, record);
      carried |= uses;
      add_devices(record, uses);
    }
    if (of.launches.empty()) used_.all_devices = true;
    // A copy inside one GPU crosses no link.
    if (has_label(of, Label::same_gpu)) carried &= ~over_nvlink;
    // Shared memory and GPUs of another back end are not UCX's.
    if (by_ucx(of)) {
      carried |= by_any_ucx | (asks_for(of, Fabric::rdma) ? asked_for_ib : 0U);
    } else {
      carried &= over_tcp;
    }
    const auto kinds = values_of(of, "memory");
    const auto on_gpu = [](const std::string& kind) {
      return place_of_memory(kind) == "cuda" || place_of_memory(kind) == "managed";
    };
    if (std::ranges::any_of(kinds, on_gpu)) carried |= of_gpu_memory;
    used_.uses |= carried;
  }

  const Used& used() const { return used_; }

 private:
  static unsigned uses_of(const Case& of, const LaunchRecord& record) {
    unsigned uses = 0;
    for (const auto& [member, share] : carried_by(record.path)) {
      if (share >= least_carried) uses |= use_of_transport(member);
    }
    if (uses != 0) return uses;
    for (const auto& lane : record.lanes) uses |= use_of_lane(lane);
    return uses != 0 ? uses : asked_uses(of);
  }

  void add_devices(const LaunchRecord& record, unsigned uses) {
    bool known = false;
    for (const auto& lane : record.lanes) {
      const auto slash = lane.find('/');
      if (slash == std::string::npos || (use_of_lane(lane) & uses & (over_tcp | over_ib)) == 0) {
        continue;
      }
      known = true;
      const auto device = lane.substr(slash + 1);
      used_.devices.insert(without_port(device));
      for (const int rank : {record.src, record.dst}) {
        const auto host = hosts_.find(rank);
        if (host == hosts_.end()) continue;
        const auto nic = find_nic_on(graph_, host->second, device);
        if (nic != Node::none) used_.devices.insert(own_name(graph_.nodes[nic]));
      }
    }
    if (known || (uses & (over_tcp | over_ib)) == 0) return;
    // Sockets have no lanes; on one host they go by the loopback.
    const auto from = hosts_.find(record.src);
    const auto to = hosts_.find(record.dst);
    const bool here = from != hosts_.end() && to != hosts_.end() && from->second == to->second;
    if (here && (uses & over_ib) == 0) {
      used_.devices.insert("lo");
    } else {
      used_.all_devices = true;
    }
  }

  const Result& result_;
  const Graph& graph_;
  std::map<int, std::string> hosts_;  ///< of the case's ranks
  Used used_;
};

}  // namespace

bool Used::has_device(const std::string& name) const {
  return name.empty() || all_devices || devices.contains(without_port(name));
}

Used used_by(const Result& result, const Graph& graph) {
  Users users(result, graph);
  bool any = false;
  for (const auto& of : result.cases) {
    if (is_canary(of) || of.state == CaseState::skipped) continue;
    any = true;
    users.add(of);
  }
  return any ? users.used() : Used{.uses = everything, .devices = {}, .all_devices = true};
}

bool asks_for(const Case& of, Fabric fabric) {
  return may_use(values_of(of, "transports"), fabric);
}

}  // namespace ucxbench
