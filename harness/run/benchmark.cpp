#include "harness/run/benchmark.hpp"

#include <fmt/format.h>
#include <sched.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "harness/core/files.hpp"
#include "harness/core/print.hpp"
#include "harness/launch/channel_rendezvous.hpp"
#include "harness/launch/environment.hpp"
#include "harness/launch/host_name.hpp"
#include "harness/memory/buffer.hpp"
#include "harness/run/clock_watch.hpp"
#include "harness/run/hosts.hpp"
#include "harness/run/loaded_libraries.hpp"
#include "harness/run/rank_plan.hpp"
#include "harness/run/wire.hpp"
#include "harness/topology/cpus.hpp"
#include "harness/transports/error_counters.hpp"
#include "harness/transports/transport_set.hpp"
#include "harness/transports/ucx_version.hpp"

namespace ucxbench {
namespace {

std::vector<Benchmark>& registry() {
  static std::vector<Benchmark> all;
  return all;
}

std::vector<int> affinity() {
  std::vector<int> cpus;
  cpu_set_t mask;
  if (sched_getaffinity(0, sizeof mask, &mask) != 0) return cpus;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(cpu, &mask)) cpus.push_back(cpu);
  }
  return cpus;
}

// A wrapper may have changed what was fixed before exec; what is then measured would not be what
// its name says. Network devices are left to it: they may have another name for each rank.
void check_settings(const Json& asked) {
  for (const auto& [name, value] : asked.items()) {
    if (name == "UCX_NET_DEVICES") continue;
    const char* own = std::getenv(name.c_str());
    if (own != nullptr && value == own) continue;
    throw Failure(Exit::usage,
                  fmt::format("--wrap changed {} from '{}' to '{}'; use --ucx {}=VALUE instead",
                              name, value.get<std::string>(), own == nullptr ? "" : own, name));
  }
}

// The supervisor has asked a process like this one, but a wrapper may have set another limit, and
// the peer's machine has its own. UCX would try again for ever.
void check_lockable(const TransportSet& set) {
  const auto problem = lockable_problem(raise_lockable_bytes());
  if (set.names(Fabric::rdma) && !problem.empty())
    throw Failure(Exit::cannot_run, "ib: " + problem);
}

// NVML is loaded only where its counters may have to do with the run.
bool uses_gpus(const Json& plan) {
  return std::ranges::any_of(plan.at("cases"), [](const Json& planned) {
    const auto memory = planned.at("parameters").value("memory", Json::array());
    return std::ranges::any_of(memory, [](const Json& kind) {
      return needs_cuda(parse_memory_kind(kind.get<std::string>()));
    });
  });
}

std::unique_ptr<DuetRank> duet_of(const Json& plan, Rendezvous& rendezvous) {
  const auto terms = plan.find("duet");
  if (terms == plan.end()) return nullptr;
  rendezvous.phase("waiting for the other side of the duet");
  return std::make_unique<DuetRank>(
      environment_variable(duet_variable), terms->at("number").get<std::uint32_t>(),
      rendezvous.rank(), std::chrono::milliseconds(terms->at("limit_ms").get<std::int64_t>()));
}

// Of this process, which is one rank.
std::optional<ClockWatch> clock_watch;
std::vector<int> own_cpus;  // as it began: one of its threads may be bound to less since

}  // namespace

bool register_benchmark(Benchmark benchmark) {
  auto& all = registry();
  const auto at = std::lower_bound(all.begin(), all.end(), benchmark.name,
                                   [](const auto& b, const auto& name) { return b.name < name; });
  if (at != all.end() && at->name == benchmark.name) {
    print_to(stderr, "two benchmarks are named '{}'\n", benchmark.name);
    std::abort();
  }
  all.insert(at, std::move(benchmark));
  return true;
}

const std::vector<Benchmark>& benchmarks() { return registry(); }

const Benchmark* find_benchmark(const std::string& name) {
  const auto found = std::ranges::find(registry(), name, &Benchmark::name);
  return found == registry().end() ? nullptr : &*found;
}

void RankContext::report_rank(const std::optional<CudaDevice>& gpu, const Json& facts,
                              const Rendezvous::Progress& progress) {
  check_ranks_agree(rendezvous_, clock_, progress);
  gpus_.emplace(rendezvous_, gpu, progress);
  const auto& cpus = own_cpus;
  const auto node = cpus.empty() ? std::nullopt : numa_node_of(cpus.front());
  Json rank = {
      {"rank", rendezvous_.rank()}, {"host", host_name()}, {"pid", getpid()}, {"cpus", cpus}};
  rank["boot_id"] = boot_id();
  for (const auto* kind : {"user", "pid", "ipc"}) rank["namespaces"][kind] = own_namespace(kind);
  rank["numa_node"] = number_or_null(node);
  rank["device"] = gpu ? to_json(*gpu) : Json();
  rank["clock"] = clock_.name();
  rank["clock_step_ns"] = clock_.step_ns();
  rank["begun_ns"] = begun_ns_;
  if (rendezvous_.rank() == 0) rank["libraries"] = loaded_libraries_json();
  rank.update(facts);
  // Those of rank 0 stand for all of its plan.
  if (rendezvous_.rank() != 0) rank.erase("ucx_effective");
  // Each rank may have its own, of the launcher, of --ucx or of a wrapper.
  if (const char* own = std::getenv("UCX_NET_DEVICES")) rank["net_devices"] = own;
  rendezvous_.put(fmt::format("report/rank/{}", rendezvous_.rank()), to_bytes(rank), progress);
}

Rendezvous::Bytes RankContext::data(std::size_t index, std::size_t part,
                                    const Rendezvous::Progress& progress) {
  return rendezvous_.get(data_key(index, rendezvous_.rank(), part), progress);
}

RankContext::Report RankContext::case_report(std::size_t index,
                                             std::span<const LaunchRecord> records,
                                             const Verified& verified, const std::string& error,
                                             std::uint64_t peak_bytes, bool at_stop) const {
  // Before its times are in the file.
  if (!at_stop && clock_watch) check_no(clock_watch->doubt());
  auto all = Json::array();
  for (const auto& record : records) all.push_back(launch_to_json(record));
  Json report = {{"index", index},
                 {"records", std::move(all)},
                 {"checked", verified.checked},
                 {"errors", verified.errors},
                 {"error", error},
                 {"peak_buffer_bytes", peak_bytes}};
  if (at_stop) report["at_stop"] = true;
  return {fmt::format("report/case/{}/{}-{}", index, records.front().src, records.front().dst),
          to_bytes(report)};
}

std::vector<RankContext::Report> RankContext::transfer_reports(
    std::size_t index, std::span<const Transfer> records) const {
  constexpr std::size_t most_at_once = 16384;  // 768 KiB: the coordinator serves others too
  TransferSection section;
  section.case_index = static_cast<std::uint32_t>(index);
  section.launch = plan_.at("launch").get<std::uint32_t>();
  section.rank = static_cast<std::uint32_t>(rendezvous_.rank());
  std::vector<Report> reports;
  for (std::size_t at = 0; at < records.size(); at += most_at_once) {
    const auto part = records.subspan(at, std::min(most_at_once, records.size() - at));
    reports.emplace_back(fmt::format("report/transfers/{}/{}/{}", index, rendezvous_.rank(), at),
                         section_bytes(section, part));
  }
  return reports;
}

void RankContext::report_case(std::size_t index, std::span<const LaunchRecord> records,
                              const Verified& verified, const std::string& error,
                              const Rendezvous::Progress& progress, std::uint64_t peak_bytes) {
  const auto [key, value] = case_report(index, records, verified, error, peak_bytes);
  rendezvous_.put(key, value, progress);
}

void RankContext::report_transfers(std::size_t index, std::span<const Transfer> records,
                                   const Rendezvous::Progress& progress) {
  for (const auto& [key, value] : transfer_reports(index, records)) {
    rendezvous_.put(key, value, progress);
  }
}

void RankContext::report_protocols(std::size_t index, int src, const Json& protocols) {
  const Json report = {
      {"index", index}, {"launch", plan_.at("launch")}, {"src", src}, {"protocols", protocols}};
  rendezvous_.put(fmt::format("report/protocols/{}/{}", index, src), to_bytes(report), {});
}

void RankContext::report_error_counters(const Json& moved) {
  if (moved.empty()) return;
  const Json report = {{"host", host_name()},
                       {"boot_id", boot_id()},
                       {"network_namespace", own_namespace("net")},
                       {"moved", moved}};
  rendezvous_.put(fmt::format("report/errors/{}", rendezvous_.rank()), to_bytes(report), {});
}

int rank_main() {
  own_cpus = affinity();
  // What it prints goes to its supervisor, with whose death it still has to clean up.
  ::signal(SIGPIPE, SIG_IGN);
  const auto rendezvous = ChannelRendezvous::from_environment();
  if (!rendezvous) return static_cast<int>(Exit::lost);
  const auto plan = from_bytes(rendezvous->get("plan", {}));
  check_rank_plan(plan);
  check_settings(plan.at("asked"));
  check_lockable(TransportSet::of(plan.at("set").get<std::vector<std::string>>()));
  const auto name = plan.at("benchmark").get<std::string>();
  const auto* found = find_benchmark(name);
  if (found == nullptr) {
    throw Failure(Exit::cannot_run, fmt::format("this ucx-bench has no benchmark '{}'", name));
  }
  const auto duet = duet_of(plan, *rendezvous);
  // What ranks of another version do not understand may end, or hold up, all that follows.
  rendezvous->put(fmt::format("report/ucx/{}", rendezvous->rank()),
                  to_bytes({{"rank", rendezvous->rank()},
                            {"host", host_name()},
                            {"boot_id", boot_id()},
                            {"version", to_string(ucx_version())}}),
                  {});
  if (duet) duet->begin_phase();
  const auto clock = Clock::calibrate();
  clock_watch.emplace(clock);
  RankContext context(*rendezvous, clock, found->parameters, plan, duet.get());
  const bool gpus = uses_gpus(plan);
  const auto errors = read_error_counters(gpus);
  found->run_rank(context);
  check_no(clock_watch->doubt());
  context.report_error_counters(moved_error_counters(errors, read_error_counters(gpus)));
  rendezvous->finish();
  if (duet) duet->end_phase();
  return 0;
}

}  // namespace ucxbench
