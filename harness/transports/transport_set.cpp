#include "harness/transports/transport_set.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <utility>

#include "harness/core/failure.hpp"
#include "harness/core/names.hpp"
#include "harness/core/text.hpp"
#include "harness/transports/gpu_direct.hpp"

namespace ucxbench {
namespace {

std::string where_ucx_is(const UcxResources& resources) {
  return fmt::format("UCX {} ({})", resources.version, resources.library);
}

// What a module of UCX that is installed says when it is loaded, else `otherwise`.
std::string why_no_module(const UcxResources& resources, std::string_view module,
                          std::string_view otherwise) {
  const auto found = resources.broken_modules.find(std::string(module));
  return found == resources.broken_modules.end()
             ? std::string(otherwise)
             : fmt::format("its module {} does not load: {}", module, found->second);
}

// Two connections of UCX 1.13 register 118 MiB; with less it tries again for ever.
constexpr std::uint64_t least_lockable = 128U << 20U;

std::string why_missing(const Transport& transport, const UcxResources& resources) {
  const auto ucx = where_ucx_is(resources);
  if (!transport.component.empty() && !resources.has_component(transport.component)) {
    return fmt::format("{}: {}: {}", transport.name, ucx,
                       why_no_module(resources, transport.module, transport.without));
  }
  if (transport.fabric == Fabric::rdma && !resources.rdma_devices) {
    return fmt::format("{}: no RDMA device on this machine (none in /sys/class/infiniband)",
                       transport.name);
  }
  if (transport.fabric == Fabric::sockets && !resources.idle_interfaces.empty()) {
    std::vector<std::string> idle;
    for (const auto& [name, why] : resources.idle_interfaces) idle.push_back(name + " " + why);
    return fmt::format("{}: no network interface that {} can use: {}", transport.name, ucx,
                       fmt::join(idle, ", "));
  }
  return fmt::format("{}: {} {}", transport.name, ucx, transport.none_here);
}

// UCX_TLS as ucp_context.c reads it: names or aliases, "all", "^" before what is left out.
bool enables_cuda_copy(std::string_view tls) {
  const bool left_out = tls.starts_with('^');
  if (left_out) tls.remove_prefix(1);
  const auto names = split_text(tls, ',');
  const bool named = std::any_of(names.begin(), names.end(), [&](std::string_view name) {
    return name == "cuda_copy" || name == "cuda" || (name == "all" && !left_out);
  });
  return named != left_out;
}

}  // namespace

TransportSet TransportSet::parse(std::string_view text) {
  TransportSet set;
  std::vector<std::string_view> given;
  std::string members(text);
  std::ranges::replace(members, '+', ',');  // as sets are named in what is printed
  for (const auto part : split_text(members, ',')) {
    if (find_transport(part) == nullptr) {
      const auto known = names_in(transports());
      const auto* ours = transport_called(part);
      throw Failure(Exit::usage,
                    ours == nullptr
                        ? fmt::format("--transports: {}", unknown_name("transport", part, known))
                        : fmt::format("--transports: '{}' is '{}' here; known: {}", part,
                                      ours->name, fmt::join(known, ", ")));
    }
    given.push_back(part);
  }
  for (const auto& known : transports()) {
    if (std::find(given.begin(), given.end(), known.name) != given.end()) {
      set.members_.emplace_back(known.name);
    }
  }
  if (set.names(Fabric::any) && set.members_.size() > 1) {
    throw Failure(
        Exit::usage,
        fmt::format("--transports {}: 'auto' is everything that UCX has and stands alone", text));
  }
  return set;
}

TransportSet TransportSet::of(const std::vector<std::string>& members) {
  return parse(fmt::format("{}", fmt::join(members, ",")));
}

bool TransportSet::names(Fabric fabric) const { return names_fabric(members_, fabric); }

bool TransportSet::may_use(Fabric fabric) const { return ucxbench::may_use(members_, fabric); }

bool available(std::string_view member, const UcxResources& resources) {
  const auto* transport = find_transport(member);
  if (transport == nullptr) return false;
  return transport->fabric == Fabric::any ||
         std::ranges::any_of(resources.resources, [&](const UcxResource& resource) {
           return is_called(resource.transport, transport->needed);
         });
}

std::string why_never_missed(const TransportSet& set) {
  const bool all = std::ranges::all_of(transports(), [&](const Transport& known) {
    return known.fabric == Fabric::process || known.fabric == Fabric::any ||
           std::ranges::find(set.members(), known.name) != set.members().end();
  });
  if (!all && !set.names(Fabric::any)) return "";
  return fmt::format(
      "'{}' is whatever carries a message, so nothing can miss it: name what must carry it",
      fmt::join(set.members(), ","));
}

std::string TransportSet::name() const { return fmt::format("{}", fmt::join(members_, "+")); }

// With 256 ranks the probes take a seventh of the CPU time, with 512 some are dropped.
constexpr int most_kept_alive = 128;

std::vector<UcxSetting> ucx_settings(const TransportSet& set, const SetUse& use) {
  std::vector<std::string> tls;
  auto why = "--transports " + set.name();
  for (const auto& value : ucx_tls(set.members(), use.gpu_memory, use.one_host)) {
    tls.push_back(value.name);
    if (!value.why.empty()) why += "; " + value.why;
  }
  if (use.gdr == true && !set.names(Fabric::any)) {
    tls.emplace_back("gdr_copy");
    why += "; --gdr on";
  }
  std::vector<UcxSetting> settings = {{"UCX_TLS", fmt::format("{}", fmt::join(tls, ",")), why}};
  if (!use.net_devices.empty()) {
    settings.push_back({"UCX_NET_DEVICES", use.net_devices,
                        "else UCX stripes over every device, and listens on each"});
  }
  if (use.endpoints != 1) {
    settings.push_back(
        {"UCX_NUM_EPS", std::to_string(use.endpoints), "endpoints of a rank: UCX expects one"});
    settings.push_back(
        {"UCX_NUM_PPN", std::to_string(use.ranks_here), "ranks on this host: UCX expects one"});
  }
  // Between hosts it is what finds a peer that is gone.
  if (use.one_host && use.ranks_here > most_kept_alive && set.may_use(Fabric::sockets)) {
    settings.push_back({"UCX_TCP_KEEPIDLE", "inf",
                        "else hundreds of ranks probe all of their idle connections at once, and "
                        "UCX takes those whose probes the kernel drops for lost"});
  }
  if (use.sockaddr) {
    const bool rdmacm = set.names(Fabric::rdma);
    settings.push_back({"UCX_SOCKADDR_TLS_PRIORITY", rdmacm ? "rdmacm" : "tcp",
                        rdmacm ? "--connect-by sockaddr with ib" : "--connect-by sockaddr"});
  }
  if (set.names(Fabric::rdma)) {
    settings.push_back({"UCX_MAX_RNDV_RAILS", "1", "recommended by RAPIDS with InfiniBand"});
    if (use.gpu_memory) {
      settings.push_back({"UCX_MEMTYPE_REG_WHOLE_ALLOC_TYPES", "cuda",
                          "recommended by RAPIDS: a pool is registered once"});
    }
    if (use.gdr) {
      settings.push_back(
          {"UCX_IB_GPU_DIRECT_RDMA", *use.gdr ? "y" : "n", *use.gdr ? "--gdr on" : "--gdr off"});
    }
  }
  return settings;
}

void check_overrides(const Variables& from_user, const TransportSet& set, bool gpu_memory) {
  const auto tls = from_user.find("UCX_TLS");
  if (gpu_memory && tls != from_user.end() && !enables_cuda_copy(tls->second)) {
    throw Failure(Exit::usage, fmt::format("--ucx UCX_TLS={}: add cuda_copy, without which "
                                           "UCX takes GPU memory for host memory",
                                           tls->second));
  }
  const auto managers = from_user.find("UCX_SOCKADDR_TLS_PRIORITY");
  if (managers != from_user.end() && managers->second == "rdmacm" && !set.may_use(Fabric::rdma)) {
    throw Failure(Exit::usage, fmt::format("--ucx UCX_SOCKADDR_TLS_PRIORITY=rdmacm: it connects "
                                           "over InfiniBand, and --transports {} has no ib",
                                           fmt::join(set.members(), ",")));
  }
}

std::string lockable_problem(std::optional<std::uint64_t> lockable_bytes) {
  if (lockable_bytes.value_or(least_lockable) >= least_lockable) return "";
  return fmt::format(
      "only {} KiB of memory may be locked here (ulimit -l), UCX needs {} MiB and more: set it to "
      "unlimited",
      *lockable_bytes >> 10U, least_lockable >> 20U);
}

std::vector<std::string> missing(const TransportSet& set, const UcxResources& resources,
                                 const SetUse& use) {
  std::vector<std::string> reasons;
  const auto problem = lockable_problem(resources.lockable_bytes);
  for (const auto& member : set.members()) {
    const auto& transport = *find_transport(member);
    if (!available(member, resources)) {
      reasons.push_back(why_missing(transport, resources));
    } else if (transport.fabric == Fabric::rdma && !problem.empty()) {
      reasons.push_back(fmt::format("{}: {}", member, problem));
    }
  }
  // UCX refuses a listener's address on a device that no enabled transport uses.
  if (use.sockaddr && !set.may_use(Fabric::sockets) && !set.may_use(Fabric::rdma)) {
    reasons.push_back(fmt::format(
        "{}: --connect-by sockaddr needs a network device, as tcp or ib in the set", set.name()));
  }
  if (use.gpu_memory && !resources.has_transport("cuda_copy")) {
    reasons.push_back(fmt::format(
        "GPU memory: {}: {}", where_ucx_is(resources),
        why_no_module(resources, "libuct_cuda.so",
                      fmt::format("no cuda_copy: {}", find_transport("nvlink")->without))));
  }
  if (const auto mapped = gdr_copy(resources, {});
      use.gdr == true && mapped.state == Ability::State::absent) {
    reasons.push_back("--gdr on: no GDRCopy: " + mapped.why);
  }
  return reasons;
}

}  // namespace ucxbench
