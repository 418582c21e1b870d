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

constexpr const char* cuda_ucx =
    "; one with CUDA: PyPI's libucx-cu12 (UCX=wheel ./scripts/run), HPC-X or conda-forge's ucx";
constexpr const char* ib_ucx =
    "; one with InfiniBand: Debian's libucx0 (not PyPI's libucx), HPC-X or conda-forge's ucx";

// What a module of UCX that is installed says when it is loaded, else `otherwise`.
std::string why_no_module(const UcxResources& resources, const std::string& module,
                          const std::string& otherwise) {
  const auto found = resources.broken_modules.find(module);
  return found == resources.broken_modules.end()
             ? otherwise
             : fmt::format("its module {} does not load: {}", module, found->second);
}

// Two connections of UCX 1.13 register 118 MiB; with less it tries again for ever.
constexpr std::uint64_t least_lockable = 128U << 20U;

std::string why_missing(const std::string& member, const UcxResources& resources) {
  const auto ucx = where_ucx_is(resources);
  if (member == "nvlink") {
    if (!resources.has_component("cuda_ipc")) {
      return fmt::format(
          "nvlink: {}: {}", ucx,
          why_no_module(resources, "libuct_cuda.so", std::string("built without CUDA") + cuda_ucx));
    }
    return fmt::format("nvlink: {} finds no GPU for cuda_ipc", ucx);
  }
  if (member == "ib") {
    if (!resources.has_component("ib")) {
      return fmt::format("ib: {}: {}", ucx,
                         why_no_module(resources, "libuct_ib.so",
                                       std::string("built without InfiniBand (verbs)") + ib_ucx));
    }
    return resources.rdma_devices
               ? fmt::format("ib: {} finds no InfiniBand port that is up (ibv_devinfo)", ucx)
               : "ib: no RDMA device on this machine (none in /sys/class/infiniband)";
  }
  if (member == "tcp" && !resources.idle_interfaces.empty()) {
    std::vector<std::string> idle;
    for (const auto& [name, why] : resources.idle_interfaces) idle.push_back(name + " " + why);
    return fmt::format("tcp: no network interface that {} can use: {}", ucx, fmt::join(idle, ", "));
  }
  return fmt::format("{}: {} has no such transport on this machine (ucx_info -d)", member, ucx);
}

// By what UCX, or people, call a transport.
std::string_view our_name(std::string_view name) {
  // With its library: "rc_mlx5", "dc_x", "ud_verbs".
  for (const std::string_view family : {"rc_", "dc_", "ud_", "gga_"}) {
    if (name.starts_with(family)) return "ib";
  }
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 20> names = {
      {{"sm", "shm"},          {"posix", "shm"},
       {"sysv", "shm"},        {"cma", "shm"},
       {"mm", "shm"},          {"knem", "shm"},
       {"xpmem", "shm"},       {"cuda", "nvlink"},
       {"cuda_ipc", "nvlink"}, {"cuda_copy", "nvlink"},
       {"gdr_copy", "nvlink"}, {"rc", "ib"},
       {"dc", "ib"},           {"ud", "ib"},
       {"srd", "ib"},          {"rdma", "ib"},
       {"roce", "ib"},         {"infiniband", "ib"},
       {"verbs", "ib"},        {"all", "auto"}}};
  const auto* found = std::ranges::find(names, name, &decltype(names)::value_type::first);
  return found == names.end() ? "" : found->second;
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
    const auto& names = transport_names();
    if (std::none_of(names.begin(), names.end(), [&](const auto& n) { return n.name == part; })) {
      const auto known = names_in(names);
      const auto ours = our_name(part);
      throw Failure(Exit::usage,
                    ours.empty()
                        ? fmt::format("--transports: {}", unknown_name("transport", part, known))
                        : fmt::format("--transports: '{}' is '{}' here; known: {}", part, ours,
                                      fmt::join(known, ", ")));
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

TransportSet TransportSet::of(const std::vector<std::string>& members) {
  return parse(fmt::format("{}", fmt::join(members, ",")));
}

bool TransportSet::has(std::string_view member) const {
  return std::find(members_.begin(), members_.end(), member) != members_.end();
}

bool available(std::string_view member, const UcxResources& resources) {
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
  if (use.gdr == true && !set.has("auto")) {
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
  if (use.one_host && use.ranks_here > most_kept_alive && (set.has("tcp") || set.has("auto"))) {
    settings.push_back({"UCX_TCP_KEEPIDLE", "inf",
                        "else hundreds of ranks probe all of their idle connections at once, and "
                        "UCX takes those whose probes the kernel drops for lost"});
  }
  if (use.sockaddr) {
    const bool rdmacm = set.has("ib");
    settings.push_back({"UCX_SOCKADDR_TLS_PRIORITY", rdmacm ? "rdmacm" : "tcp",
                        rdmacm ? "--connect-by sockaddr with ib" : "--connect-by sockaddr"});
  }
  if (set.has("ib")) {
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
  if (managers != from_user.end() && managers->second == "rdmacm" && !set.has("ib") &&
      !set.has("auto")) {
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
  for (const auto& member : set.members()) {
    if (!available(member, resources)) reasons.push_back(why_missing(member, resources));
  }
  const auto problem = lockable_problem(resources.lockable_bytes);
  if (set.has("ib") && available("ib", resources) && !problem.empty()) {
    reasons.push_back("ib: " + problem);
  }
  // UCX refuses a listener's address on a device that no enabled transport uses.
  if (use.sockaddr && !set.has("tcp") && !set.has("ib") && !set.has("auto")) {
    reasons.push_back(fmt::format(
        "{}: --connect-by sockaddr needs a network device, as tcp or ib in the set", set.name()));
  }
  if (use.gpu_memory && !resources.has_transport("cuda_copy")) {
    reasons.push_back(
        fmt::format("GPU memory: {}: {}", where_ucx_is(resources),
                    why_no_module(resources, "libuct_cuda.so",
                                  std::string("no cuda_copy: built without CUDA") + cuda_ucx)));
  }
  if (const auto mapped = gdr_copy(resources, {});
      use.gdr == true && mapped.state == Ability::State::absent) {
    reasons.push_back("--gdr on: no GDRCopy: " + mapped.why);
  }
  return reasons;
}

std::string member_of(std::string_view ucx_name) {
  constexpr std::array shm = {"posix",  "sysv", "cma",  "knem", "xpmem",
                              "memory", "sm",   "unix", "vader"};
  if (std::find(shm.begin(), shm.end(), ucx_name) != shm.end()) return "shm";
  if (ucx_name == "cuda_ipc") return "nvlink";
  if (ucx_name == "cuda_copy" || ucx_name == "gdr_copy") return "staging";
  if (ucx_name.starts_with("rc_") || ucx_name.starts_with("dc_")) return "ib";
  if (ucx_name.starts_with("ud_")) return "wireup";
  return std::string(ucx_name);
}

}  // namespace ucxbench
