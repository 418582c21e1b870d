#include "bench/cli/plan/settle.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <span>
#include <string>
#include <utility>

#include "bench/cli/options/memory_options.hpp"
#include "bench/cli/plan/ablation.hpp"
#include "bench/cli/plan/binding.hpp"
#include "bench/cli/plan/orders.hpp"
#include "harness/comm/device.hpp"
#include "harness/comm/mpi_settings.hpp"
#include "harness/core/secret.hpp"
#include "harness/core/text.hpp"
#include "harness/core/units.hpp"
#include "harness/launch/process.hpp"
#include "harness/result/words.hpp"
#include "harness/run/benchmark.hpp"
#include "harness/topology/cpus.hpp"
#include "harness/transports/gpu_direct.hpp"
#include "harness/transports/peer_settings.hpp"

namespace ucxbench {
namespace {

bool names(const Plan& plan, Fabric fabric) {
  return std::ranges::any_of(plan.sets, [&](const auto& set) { return set.names(fabric); });
}

// A set that names ib is refused then; auto runs without, and UCX goes on trying.
void note_lockable(Result& result, const std::vector<Plan>& plans, const UcxResources& ucx) {
  const auto problem = lockable_problem(ucx.lockable_bytes);
  const bool automatic =
      std::ranges::any_of(plans, [](const Plan& plan) { return names(plan, Fabric::any); });
  const bool disturbs = !problem.empty() && automatic && available("ib", ucx);
  result.ucx["lockable_problem"] = disturbs ? Json(problem) : Json();
}

// By its key a case is found again in another run.
void check_distinct(const Result& result) {
  std::set<std::string> keys;
  for (const auto& planned : result.cases) {
    if (keys.insert(planned.key).second) continue;
    throw Failure(Exit::usage,
                  fmt::format("{} would be measured twice; leave one out", planned.key));
  }
}

std::string all_of_them(const std::vector<std::string>& devices) {
  std::vector<std::string> all;
  for (const auto& own : devices) {
    for (const auto name : split_text(own, ',')) {
      if (std::ranges::find(all, name) == all.end()) all.emplace_back(name);
    }
  }
  return fmt::format("{}", fmt::join(all, ","));
}

/// Settles one plan.
class Settling {
 public:
  Settling(Plan plan, const Machine& machine, Result& result)
      : plan_(std::move(plan)), machine_(machine), result_(result) {}

  std::vector<LaunchPlan> settled() {
    bind_near_data();
    std::vector<LaunchPlan> launches;
    for (const auto& set : plan_.sets) {
      // Under a wrapper the ranks may live in another network namespace, with devices of its own.
      const auto devices = net_devices_of(plan_.net_devices, set, route(), plan_.wrap.empty());
      for (const auto& memory : plan_.memory) {
        const auto own = own_net_devices(set, memory);
        const SetUse use{.net_devices = own.empty() ? devices : all_of_them(own),
                         .sockaddr = plan_.sockaddr,
                         .gpu_memory = any_on_gpu(memory),
                         .one_host = plan_.hosts == 1,
                         .gdr = plan_.gdr};
        for (const auto ranks : plan_.ranks) {
          for (const auto comm : plan_.comms) {
            if (plan_.ablate && !ablates(comm, set)) continue;
            for (const auto& mode : plan_.modes) {
              auto launch = launch_plan(comm, mode, set, memory, ranks, use, own);
              if (comm == CommKind::mpi) launches.push_back(asleep_in(launch));
              std::ranges::move(apart(launch), std::back_inserter(launches));
              launches.push_back(std::move(launch));
            }
          }
        }
      }
    }
    return launches;
  }

 private:
  std::string route() const { return machine_.remote_route.value_or("lo"); }

  /// By rank; empty on one host, and while the others are not there.
  std::vector<std::string> names_of_hosts(int ranks) const {
    std::vector<std::string> names;
    if (machine_.hosts < 2) return names;
    for (const auto host : plan_.hosts_of(ranks)) {
      names.push_back(host == 0 ? text_at(result_.machine, "/hosts/0/name")
                                : machine_.others[static_cast<std::size_t>(host) - 1].name);
    }
    return names;
  }

  // How `auto` and `nearest` were taken.
  void note_placement(const std::string& option, const std::string& how) {
    const auto of = plan_.name.empty() ? "" : plan_.name + ": ";
    const auto line = fmt::format("{}{}: {}", of, option, how);
    auto& lines = result_.run["placement"];
    if (std::find(lines.begin(), lines.end(), line) == lines.end()) lines.push_back(line);
  }

  int local(int ranks) const { return plan_.ranks_of_host(ranks); }
  Seat own_seat() const { return machine_.seats.empty() ? Seat{} : machine_.seats.front(); }

  /// On the host that has the fewest for its ranks.
  int cpus_for(int ranks) const {
    auto cpus = own_cpus_for(ranks);
    for (const auto& seat : machine_.seats) cpus = std::min(cpus, seat.cpus / seat.of);
    return cpus;
  }

  /// Those that so many ranks may run on.
  int own_cpus_for(int ranks) const {
    std::set<int> bound;
    for (const auto& own :
         std::span(plan_.cpus)
             .first(std::min(plan_.cpus.size(), static_cast<std::size_t>(local(ranks))))) {
      bound.insert(own.begin(), own.end());
    }
    return static_cast<int>(bound.empty() ? machine_.cpus.size() : bound.size());
  }

  /// How ranks, or their threads, wait where they outnumber the CPUs: `cpus` of a host, which may
  /// be less than one where several hosts are one machine. Then it is that machine's ranks and
  /// CPUs.
  void note_progress(const Case& planned, int ranks, int cpus) {
    auto together = local(ranks);
    const auto shared = std::ranges::find_if(machine_.seats, [cpus](const Seat& seat) {
      return seat.of > 1 && seat.cpus / seat.of == cpus;
    });
    if (shared != machine_.seats.end()) {
      together *= shared->of;
      cpus = shared->cpus;
    }
    auto& all = result_.run["crowded"];
    Json row = {{"progress_mode", text_at(planned.parameters, "/progress_mode")},
                {"ranks", together},
                {"cpus", cpus}};
    if (const auto threads = threads_in(planned.parameters); threads > 1) row["threads"] = threads;
    if (std::find(all.begin(), all.end(), row) == all.end()) all.push_back(row);
  }

  // One choice for all sets and memories: `ranks` of the run file has one.
  void bind_near_data() {
    if (!plan_.bind_by_wiring) return;
    if (own_seat().of > 1) {
      plan_.cpus = cpus_of_seat("auto", local(plan_.most_ranks()), plan_.busy_threads, own_seat());
      note_placement("--bind auto", "side by side with the other hosts on this machine");
      return;
    }
    auto [cpus, how] =
        cpus_by_wiring(machine_.wiring, plan_.cpus, plan_.devices, uses_cuda(plan_),
                       names(plan_, Fabric::rdma), machine_.cpus, plan_.busy_threads);
    plan_.cpus = std::move(cpus);
    note_placement("--bind auto", how);
  }

  // UCX_NET_DEVICES by rank; empty where all ranks have what --net-devices says.
  std::vector<std::string> own_net_devices(const TransportSet& set,
                                           const std::vector<MemoryKind>& memory) {
    const bool nearest = plan_.net_devices == "nearest";
    // By itself only where there is a choice, and UCX is not to make it.
    const bool chosen = plan_.net_devices == "auto" && set.names(Fabric::rdma) &&
                        plan_.hosts == 1 && machine_.wiring.rdma_ports.size() > 1 &&
                        plan_.wrap.empty();
    if (!chosen && !(nearest && set.may_use(Fabric::rdma))) return {};
    const auto data =
        data_of_ranks(machine_.wiring, plan_.cpus, plan_.devices, any_cuda(memory), true);
    auto devices = nearest_net_devices(machine_.wiring, data, set, route());
    note_placement(fmt::format("--net-devices {}, {}", plan_.net_devices, set.name()),
                   !devices.empty() ? "the NIC nearest to each rank's data"
                                    : "for all ranks alike: no NIC is known to be nearest to each");
    return devices;
  }

  std::string name_of(CommKind comm, const ProgressMode& mode, const TransportSet& set,
                      const std::vector<MemoryKind>& memory, int ranks) const {
    std::vector<std::string> parts = {set.name()};
    if (comm != CommKind::ucx) parts.emplace_back(to_string(comm));
    if (plan_.modes.size() > 1) parts.push_back(mode.name());
    if (!plan_.name.empty()) parts.push_back(plan_.name);
    if (any_cuda(memory)) {
      parts.push_back(fmt::format("{}", fmt::join(case_place(set, memory, ranks).memory, "-")));
    }
    if (plan_.ranks.size() > 1) parts.push_back(fmt::format("ranks {}", ranks));
    return fmt::format("{}", fmt::join(parts, ", "));
  }

  std::string why_not(CommKind comm, const TransportSet& set, const std::vector<MemoryKind>& memory,
                      const SetUse& use) const {
    if (comm == CommKind::sockets) {
      if (use.sockaddr) return "--connect-by sockaddr is UCX's: sockets have one way to connect";
      return why_no_sockets(set.members(), any_cuda(memory), use.one_host);
    }
    if (comm == CommKind::mpi) {
      const auto why = why_no_mpi(machine_.found.mpi, set, any_cuda(memory), use);
      if (!why.empty() || (!set.names(Fabric::rdma) && !set.names(Fabric::gpu_links))) return why;
    }
    if (any_on_gpu(memory) && !plan_.no_gpu_memory.empty()) return plan_.no_gpu_memory;
    if (const auto none = why_no_kind(memory); !none.empty()) return none;
    auto why = why_not_on(machine_.found, set, memory, use);
    for (const auto& other : machine_.others) {
      if (!why.empty()) return why;
      why = why_not_on(other.found, set, memory, use);
      if (!why.empty()) why += ", on " + other.name;
    }
    if (why.empty() && machine_.several_machines && !leaves_machine(set)) {
      why =
          fmt::format("{}: it carries nothing from one host to another; add tcp or ib", set.name());
    }
    return why;
  }

  // Of other hosts their ranks say it.
  std::string why_no_kind(const std::vector<MemoryKind>& memory) const {
    if (plan_.hosts > 1 || !plan_.wrap.empty()) return "";
    for (const auto& kind : memory) {
      if (auto none = why_no_memory(kind); !none.empty()) return none;
    }
    return "";
  }

  static std::string why_not_on(const Probe& found, const TransportSet& set,
                                const std::vector<MemoryKind>& memory, const SetUse& use) {
    if (any_cuda(memory) && !found.no_cuda.empty()) return found.no_cuda;
    return fmt::format("{}", fmt::join(missing(set, found.ucx, use), "; "));
  }

  // UCX has tcp beside cuda_ipc then.
  static bool leaves_machine(const TransportSet& set) {
    return std::ranges::any_of(std::array{Fabric::sockets, Fabric::rdma, Fabric::gpu_links},
                               [&](Fabric fabric) { return set.may_use(fabric); });
  }

  // A case of one host, also of several shells there, has the key that it always had.
  void note_hosts(Case& planned) const {
    const auto hosts = machine_.hosts == 0 ? plan_.hosts : machine_.hosts;
    if (hosts == 1) return;
    planned.key += fmt::format("/hosts={}", hosts);
    planned.parameters["hosts"] = hosts;
  }

  int endpoints_of_rank(int ranks) const {
    if (plan_.estimated_eps != 0) return plan_.estimated_eps;
    return plan_.one_peer ? 1 : std::max(1, ranks - 1);
  }

  // Whether the user's UCX_TLS makes it another set than the one of its name.
  bool overrides(const std::vector<UcxSetting>& settings) const {
    const auto own = std::ranges::find(settings, "UCX_TLS", &UcxSetting::key);
    const auto users = plan_.ucx.find("UCX_TLS");
    return own != settings.end() && users != plan_.ucx.end() && users->second != own->value;
  }

  // Sockets have nothing of UCX's but the network device.
  static std::vector<UcxSetting> settings_of(CommKind comm, const TransportSet& set,
                                             const SetUse& use, bool crowded) {
    if (comm == CommKind::mpi) return mpi_settings(set, use, crowded);
    auto settings = ucx_settings(set, use);
    if (comm == CommKind::sockets) {
      std::erase_if(settings, [](const auto& setting) { return setting.key != "UCX_NET_DEVICES"; });
      for (auto& setting : settings) setting.why = "the device whose address the sockets have";
    }
    return settings;
  }

  LaunchPlan launch_plan(CommKind comm, const ProgressMode& mode, const TransportSet& set,
                         const std::vector<MemoryKind>& memory, int ranks, SetUse use,
                         const std::vector<std::string>& own_net_devices) {
    use.endpoints = endpoints_of_rank(ranks);
    use.ranks_here = local(ranks) * own_seat().of;
    const auto cpus = cpus_for(ranks);
    LaunchPlan launch{.name = name_of(comm, mode, set, memory, ranks),
                      .benchmark = plan_.benchmark,
                      .set = set,
                      .memory = memory,
                      .ranks = ranks,
                      .cases = {},
                      .settings = settings_of(comm, set, use, crowded(local(ranks), cpus)),
                      .net_devices = own_net_devices,
                      .asked = {},
                      .unavailable = why_not(comm, set, memory, use),
                      .strict = plan_.strict,
                      .require = plan_.require,
                      .allow_same_gpu = plan_.allow_same_gpu,
                      .no_memory_copy = plan_.no_memory_copy,
                      .crowded = crowded(local(ranks), cpus),
                      .launch = {}};
    const auto variables = set_environment(launch);
    if (comm == CommKind::ucx && (use.gpu_memory || set.may_use(Fabric::rdma))) {
      result_.ucx["gpu_direct"][launch.name] = describe_gpu_direct(machine_.found.ucx, variables);
    }
    if (comm == CommKind::mpi) launch.launch.mpirun = machine_.found.mpi.mpirun;
    auto place = case_place(set, memory, ranks, use.net_devices, comm);
    place.progress = mode;
    for (auto& planned : plan_.cases(place, cpus)) {
      if (crowded(local(ranks) * threads_in(planned.parameters), cpus))
        note_progress(planned, ranks, cpus);
      note_hosts(planned);
      if (overrides(launch.settings)) {
        result_.ucx["environment"]["overridden"].push_back(planned.key);
      }
      planned.hosts = names_of_hosts(ranks);
      launch.cases.push_back(result_.cases.size());
      result_.cases.push_back(std::move(planned));
    }
    return launch;
  }

  /// Takes the cases out of it in which MPI would have to sleep.
  LaunchPlan asleep_in(LaunchPlan& launch) const {
    const auto polls = [this](std::size_t index) {
      return text_at(result_.cases[index].parameters, "/progress_mode") == "poll";
    };
    auto asleep = launch;
    std::erase_if(asleep.cases, polls);
    std::erase_if(launch.cases, std::not_fn(polls));
    if (asleep.unavailable.empty()) {
      asleep.unavailable = "mpi: it has nothing to sleep on; use --progress-mode poll";
    }
    return asleep;
  }

  // Takes the cases out of it with unusual values of what some transports refuse: each has launches
  // of its own, since what cannot run ends its launch.
  std::vector<LaunchPlan> apart(LaunchPlan& launch) const {
    const auto& description = find_benchmark(plan_.benchmark)->parameters;
    std::map<std::string, std::vector<std::size_t>> kinds;
    for (const auto index : launch.cases) {
      std::string kind;
      for (const auto& field : description.fields) {
        if (!field.apart) continue;
        const auto value = result_.cases[index].parameters.value(field.recorded_name(), Json());
        if (value.is_null() || value == field.read(description.usual.get())) continue;
        kind += fmt::format(", {} {}", field.name, text_of(field, value));
      }
      kinds[kind].push_back(index);
    }
    std::vector<LaunchPlan> others;
    for (const auto& [kind, cases] : kinds) {
      if (kind.empty()) continue;
      auto& other = others.emplace_back(launch);
      other.name += kind;
      other.cases = cases;
      result_.ucx["environment"]["asked"][other.name] = other.asked;
    }
    launch.cases = kinds[""];
    return others;
  }

  // Of each rank, fixed before it is started. Returns all UCX_* that a rank has.
  Variables set_environment(LaunchPlan& launch) {
    Variables settings;
    for (const auto& setting : launch.settings) settings[setting.key] = setting.value;
    auto shared = rank_environment(current_environment(), settings, plan_.ucx);
    launch.asked = shared.asked;
    auto& record = result_.ucx["environment"];
    record["asked"][launch.name] = shared.asked;
    record["inherited"] = without_secrets(shared.inherited);
    record["replaced"] = without_secrets(shared.replaced);

    launch.launch.timeout = plan_.timeout;
    const auto here = static_cast<std::size_t>(local(launch.ranks));
    for (std::size_t rank = 0; rank < here; ++rank) {
      auto own = settings;
      if (rank < launch.net_devices.size()) own["UCX_NET_DEVICES"] = launch.net_devices[rank];
      launch.launch.ranks.push_back(
          own_rank(own, plan_.ucx, plan_.wrap,
                   rank < plan_.cpus.size() ? plan_.cpus[rank] : std::vector<int>{}));
    }
    for (std::size_t at = 0; plan_.hosts > 1 && at < here; ++at) {
      launch.launch.ranks[at].on_machine = static_cast<int>(at);
    }
    if (plan_.hosts > 1) launch.launch.hosts = plan_.hosts_of(launch.ranks);
    for (std::size_t host = 1; host < machine_.seats.size(); ++host) {
      const auto& seat = machine_.seats[host];
      launch.launch.told.push_back(
          to_json(Orders{.set = launch.set,
                         .settings = settings,
                         .ucx = plan_.ucx,
                         .busy_threads = plan_.busy_threads,
                         .peers = plan_.one_peer ? 1 : launch.ranks - 1,
                         .first_on_machine = seat.before * local(launch.ranks),
                         .seat = seat}));
    }
    shared.asked.merge(shared.inherited);
    return shared.asked;
  }

  Plan plan_;
  const Machine& machine_;
  Result& result_;
};

}  // namespace

std::vector<LaunchPlan> settle(std::vector<Plan> plans, const Machine& machine, Result& result) {
  note_lockable(result, plans, machine.found.ucx);
  std::vector<LaunchPlan> launches;
  for (auto& plan : plans) {
    auto more = of_plan(plan, [&] { return Settling(plan, machine, result).settled(); });
    std::ranges::move(more, std::back_inserter(launches));
  }
  // Of which a run asked for no case.
  std::erase_if(launches, [](const LaunchPlan& plan) { return plan.cases.empty(); });
  check_distinct(result);
  return launches;
}

}  // namespace ucxbench
