#include "bench/cli/plan/measuring_plan.hpp"

#include <algorithm>
#include <chrono>

#include "bench/cli/plan/binding.hpp"
#include "harness/launch/shell_words.hpp"

namespace ucxbench {
namespace {

std::vector<int> numbers_of_ranks(const MeasuringOptions& o) {
  if (o.of.parameters.ranks) return {o.of.parameters.ranks(o.asked.parameters.get())};
  const auto several = o.asked.axes.find("ranks");
  if (several == o.asked.axes.end()) return {o.place().ranks};
  std::vector<int> numbers;
  for (const auto& number : several->second) numbers.push_back(number.get<int>());
  return numbers;
}

std::vector<CommKind> comms_of(const MeasuringOptions& o) {
  const auto several = o.asked.axes.find("comm");
  if (several == o.asked.axes.end()) return {o.place().comm};
  std::vector<CommKind> comms;
  for (const auto& name : several->second) {
    comms.push_back(
        parse_name(comm_names, name.get<std::string>(), "--comm: ", "communication device"));
  }
  return comms;
}

// One where a launch measures several.
std::vector<ProgressMode> modes_of(const MeasuringOptions& o) {
  const auto* field = o.of.parameters.find("progress-mode");
  if (field == nullptr || field->axis != Axis::launches) return {ProgressMode{}};
  const auto several = o.asked.axes.find("progress-mode");
  const auto names =
      several == o.asked.axes.end() ? values_of(*field, field->usual) : several->second;
  std::vector<ProgressMode> modes;
  for (const auto& name : names) modes.push_back(ProgressMode::parse(name.get<std::string>()));
  return modes;
}

std::vector<TransportSet> sets_of(const MeasuringOptions& o, int ranks) {
  if (o.ablate && (o.transports.any_set() || !o.transports.require.empty())) {
    throw Failure(Exit::usage,
                  "--ablate tries every set: leave --transports, --enable-… and --require out");
  }
  return o.transports.sets(
      ranks, o.remote() ? std::vector<std::string>{"tcp"} : std::vector<std::string>{"tcp", "shm"});
}

std::vector<AskedCase> cases_of(const MeasuringOptions& o, Place place, int cpus) {
  place.launches = o.run.launches;
  return cases_at(o.of.name, o.of.parameters, o.asked, place,
                  local(place.ranks / o.number_of_hosts(), cpus));
}

// Of all cases together.
struct Needs {
  int busy_threads = 1;
  bool sockaddr = false;
};

// Of every case, so that what cannot be is refused before anything is started.
Needs needs_of(const MeasuringOptions& o, const Plan& plan) {
  Needs needs;
  for (const auto& set : plan.sets) {
    for (const auto& memory : plan.memory) {
      for (const auto ranks : plan.ranks) {
        for (const auto comm : plan.comms) {
          auto place = case_place(set, memory, ranks, "", comm);
          place.progress = plan.modes.front();
          for (const auto& planned : cases_of(o, place, ranks)) {
            needs.busy_threads = std::max(needs.busy_threads, planned.busy_threads);
            needs.sockaddr = needs.sockaddr || planned.connect_by == ConnectBy::sockaddr;
          }
        }
      }
    }
  }
  return needs;
}

void check_options(const MeasuringOptions& o) {
  const auto& place = o.place();
  if (place.pool_bytes != 0 && place.no_pool) {
    throw Failure(Exit::usage, "--rmm-pool-size and --no-pool: one of the two");
  }
  const auto parameters = to_json(o.of.parameters.fields, o.asked.parameters.get());
  if (!parameters.value("transfer_log", true)) o.run.outputs.need_no_transfers();
  split_shell_words(o.run.wrap);  // refuses an open quote
  check_sides(o);
}

std::vector<Case> planned_cases(const MeasuringOptions& o, const Place& place, int cpus) {
  std::vector<Case> cases;
  for (auto& asked : cases_of(o, place, cpus)) {
    Case planned;
    planned.key = std::move(asked.key);
    planned.benchmark = o.of.name;
    planned.parameters = std::move(asked.parameters);
    planned.shows = shows_of(o.of.shows, planned.benchmark, planned.parameters);
    cases.push_back(std::move(planned));
  }
  return cases;
}

}  // namespace

Plan plan_of(const MeasuringCommand& command, const Sides* sides) {
  const auto options = command.options;
  if (sides != nullptr) static_cast<Sides&>(*options) = *sides;
  fill_in(*command.app, *options);
  const auto& o = *options;
  check_options(o);
  Plan plan;
  plan.benchmark = o.of.name;
  plan.ranks = numbers_of_ranks(o);
  for (const auto ranks : plan.ranks) check_ranks_of_hosts(o, ranks, o.asks_for_ranks());
  plan.comms = comms_of(o);
  plan.modes = modes_of(o);
  plan.hosts = o.number_of_hosts();
  plan.hosts_in_turns = o.of.one_peer;
  plan.sets = sets_of(o, plan.most_ranks());
  plan.memory = o.memory.kinds();
  const auto needs = needs_of(o, plan);
  plan.timeout = std::chrono::duration_cast<std::chrono::milliseconds>(o.run.timeout);
  plan.wrap = o.run.wrap;
  plan.cpus = cpus_of_ranks(o.run.bind, plan.ranks_of_host(plan.most_ranks()), needs.busy_threads);
  plan.busy_threads = needs.busy_threads;
  plan.bind_by_wiring = o.run.bind == "auto";
  plan.ucx = key_values("--ucx", o.transports.ucx, "UCX_");
  plan.strict = o.transports.strict;
  plan.sockaddr = needs.sockaddr;
  plan.devices = o.place().devices;
  plan.pool_bytes = o.place().pool_bytes;
  plan.estimated_eps = o.transports.estimated_eps;
  plan.one_peer = o.of.one_peer;
  plan.gdr = o.transports.gdr;
  plan.net_devices = o.transports.net_devices;
  plan.require = o.transports.required(plan.sets);
  plan.allow_same_gpu = o.transports.allow_same_gpu;
  plan.no_memory_copy = o.run.no_memory_copy;
  plan.ablate = o.ablate;
  if (o.of.no_gpu_memory != nullptr) plan.no_gpu_memory = o.of.no_gpu_memory();
  plan.listen = o.listen;
  plan.launcher = o.launcher;
  plan.token_file = o.token_file;
  plan.cases = [options](const Place& place, int cpus) {
    return planned_cases(*options, place, cpus);
  };
  return plan;
}

}  // namespace ucxbench
