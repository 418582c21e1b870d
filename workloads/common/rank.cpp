#include "workloads/common/rank.hpp"

#include <algorithm>
#include <tuple>
#include <utility>
#include <vector>

#include "harness/run/case_under_way.hpp"
#include "harness/run/duets.hpp"
#include "harness/run/proof_record.hpp"
#include "harness/run/together.hpp"
#include "harness/run/wire.hpp"
#include "harness/transports/counters.hpp"
#include "harness/transports/proof.hpp"
#include "harness/transports/transport_set.hpp"

namespace ucxbench {
namespace {

// Enough for 64 ranks' messages of a few iterations; 48 MiB.
constexpr std::size_t log_capacity = std::size_t{1} << 20U;

// What carried the exchange alone: the devices' counters around it, on rank 0, and the lanes to all
// peers. The counters are of this host, so they say nothing of ranks on others.
Json path_of(const std::vector<std::string>& lanes, const WorkloadParameters& p,
             const std::vector<RankFacts>& ranks, std::uint64_t payload_bytes, double message_bytes,
             const Json& labels) {
  std::vector<Json> counted;
  for (const auto& rank : ranks) counted.push_back(rank.counted);
  const Evidence evidence{.lanes = lanes,
                          .path = {},
                          .device = device_name(p.comm),
                          .moved = counted_by_all(counted),
                          .payload_bytes = payload_bytes,
                          .message_bytes = message_bytes,
                          .alike = false};
  return path_record(TransportSet::of(p.transports), evidence, Json::array(), labels);
}

// By sender, what this rank received.
std::vector<Inflow> inflows_of(const std::vector<TimedMessages>& timed, int rank,
                               const std::vector<Iteration>& iterations, double clock_step_ns) {
  std::vector<Inflow> inflows;
  for (std::size_t src = 0; src < timed.size(); ++src) {
    if (static_cast<int>(src) == rank) continue;
    auto& inflow =
        inflows.emplace_back(Inflow{.src = static_cast<int>(src),
                                    .dst = rank,
                                    .bytes = timed[src].bytes(),
                                    .messages = timed[src].messages(),
                                    .quartiles_GBps = timed[src].quartiles_GBps(clock_step_ns),
                                    .goodput_GBps = timed[src].goodput_GBps(clock_step_ns),
                                    .delivery_us = timed[src].delivery_us()});
    for (const auto& iteration : iterations) {
      if (iteration.waited_ns.empty()) continue;
      inflow.waited_ns = inflow.waited_ns.value_or(0) + iteration.waited_ns.at(src);
    }
  }
  return inflows;
}

// Of all that was received, in bytes; 0 without a log of transfers.
double mean_message(const Json& pairs) {
  double bytes = 0;
  double messages = 0;
  for (const auto& pair : pairs) {
    bytes += pair.at("bytes").get<double>();
    messages += pair.at("messages").get<double>();
  }
  return messages > 0 ? bytes / messages : 0;
}

std::string_view mover(const WorkloadParameters& p) {
  return p.comm == CommKind::ucx ? "UCX" : to_string(p.comm);
}

Checks checks_of(const std::vector<RankFacts>& ranks) {
  Checks all;
  for (const auto& rank : ranks) all.add(rank.checks);
  return all;
}

// Of a metric that not every iteration has there are no blocks.
void keep_iterations(LaunchRecord& record, const DuetRank& duet, const PlannedBlocks& planned) {
  for (const auto* metric : {"wall_ms", "exchange_GBps"}) {
    const auto found = record.samples.find(metric);
    if (found == record.samples.end()) continue;
    const auto values = medians_of_blocks(found->second.values, planned);
    if (!values.empty()) keep_blocks(record, duet, metric, planned, values);
  }
}

void report(RankContext& context, Communicator& comm, std::size_t index,
            const WorkloadParameters& p, std::span<const Phase> phases, std::uint64_t input_bytes,
            std::optional<double> alone, const std::vector<RankFacts>& ranks,
            const PreparedWorkload& workload, const PlannedBlocks& planned) {
  auto record = make_record(ranks, phases, input_bytes, alone, context.clock().step_ns(), mover(p));
  if (workload.describe_pair) {
    for (auto& pair : record.workload.at("pairs")) workload.describe_pair(pair);
  }
  if (context.duet() != nullptr) keep_iterations(record, *context.duet(), planned);
  record.launch = context.plan().at("launch").get<int>();
  record.src = 0;
  record.dst = comm.size() > 1 ? 1 : 0;
  record.warmup_iterations = static_cast<std::uint64_t>(p.warmup_runs);
  const auto bytes = record.workload.at("exchange").at("bytes").get<double>();
  if (comm.size() > 1 && bytes > 0) {  // what no byte went over was not used
    record.lanes = comm.lanes_to_all();
    const auto exchanged =
        alone ? static_cast<std::uint64_t>(bytes * workload.alone.all_times(p.calibrations)) : 0;
    record.path =
        path_of(record.lanes, p, ranks, exchanged, mean_message(record.workload.at("pairs")),
                context.gpus().labels(record.lanes));
  } else {
    record.path = {{"labels", context.gpus().labels(record.lanes)}, {"why", "no byte was sent"}};
  }
  const auto checks = checks_of(ranks);
  std::uint64_t peak = 0;
  std::uint64_t asleep_ns = 0;
  for (const auto& rank : ranks) {
    peak = std::max(peak, rank.peak_buffer_bytes);
    asleep_ns += rank.asleep_ns;
  }
  if (asleep_ns > 0) record.overheads["asleep_ms"] = static_cast<double>(asleep_ns) * 1e-6;
  context.report_case(
      index, record, checks.verified, checks.error, [&] { comm.rest(context.rendezvous()); }, peak);
}

// Blocks of whole iterations, for as long as so many runs take, and half a second where that is
// longer. An iteration that takes long needs no others before it to be warm.
PlannedBlocks plan_iterations(RankContext& context, std::size_t index, const WorkloadParameters& p,
                              const std::function<double()>& uncounted,
                              const Rendezvous::Progress& progress) {
  constexpr double least_time_s = 0.5;
  constexpr double short_s = 10e-3;
  constexpr int more = 4;
  constexpr std::uint64_t most = 10;  // a record has every iteration of up to 50 quads then
  auto& rendezvous = context.rendezvous();
  int shared = 0;
  const auto share = [&](std::uint64_t value) {
    const auto key = fmt::format("blocks/{}/{}", index, shared++);
    if (rendezvous.rank() == 0) rendezvous.put(key, to_bytes(value), progress);
    return from_bytes(rendezvous.get(key, progress)).get<std::uint64_t>();
  };
  auto least_s = uncounted();
  if (share(least_s < short_s ? 1 : 0) != 0) {
    for (int i = 0; i < more; ++i) least_s = std::min(least_s, uncounted());
  }
  return plan_blocks(*context.duet(), fmt::format("iterations of case {}", index), least_s,
                     {.time_s = std::max(least_time_s, p.runs * least_s),
                      .fewest = 1,
                      .most = most,
                      .least_quads = static_cast<std::uint64_t>(p.runs + 1) / 2},
                     share);
}

}  // namespace

void run_workload(RankContext& context, const WorkloadParameters& p,
                  const std::function<void(Communicator&, WorkloadMemory&)>& run_cases) {
  auto& rendezvous = context.rendezvous();
  rendezvous.phase("starting");
  WorkloadMemory memory(p, rendezvous.rank_on_machine());
  Communicator comm(rendezvous, {.kind = p.comm,
                                 .transports = p.transports,
                                 .connect_by = p.connect_by,
                                 .net_devices = p.net_devices,
                                 .progress = p.progress,
                                 .crowded = context.crowded()});
  context.report_rank(memory.gpu(),
                      {{"net_devices", p.net_devices}, {"ucx_effective", comm.effective()}},
                      [&] { comm.rest(rendezvous); });
  run_cases(comm, memory);
  comm.close(rendezvous);
}

void measure_workload(RankContext& context, Communicator& comm, std::size_t index,
                      const WorkloadParameters& p, std::span<const Phase> phases,
                      std::uint64_t input_bytes, const PreparedWorkload& workload) {
  auto& rendezvous = context.rendezvous();
  const auto progress = [&] { comm.rest(rendezvous); };
  RankFacts own{.clock = clock_identity()};
  std::optional<double> alone;
  if (p.calibrations > 0 && comm.size() > 1) {
    rendezvous.phase("the exchange alone");
    const auto before = read_counters();
    alone = median_exchange_GBps(comm, context.clock(), p.calibrations, workload.alone,
                                 workload.received, own.checks);
    own.counted = counted_here(moved_since(before));
  }
  TransferLog log(p.transfer_log ? log_capacity : 0);
  auto* logged = p.transfer_log ? &log : nullptr;
  // On rank 0, of all ranks, what is finished; of the log, each rank's own.
  std::vector<RankFacts> finished(comm.rank() == 0 ? static_cast<std::size_t>(comm.size()) : 0);
  std::span<const Transfer> transfers;
  CaseUnderWay under_way(context, index, [&] {
    CaseUnderWay::Finished part{.transfers = transfers};
    if (finished.empty() || finished.front().iterations.empty()) return part;
    auto record =
        make_record(finished, phases, input_bytes, alone, context.clock().step_ns(), mover(p));
    record.launch = context.plan().at("launch").get<int>();
    record.dst = comm.size() > 1 ? 1 : 0;
    record.warmup_iterations = static_cast<std::uint64_t>(p.warmup_runs);
    part.records.push_back(std::move(record));
    auto checks = checks_of(finished);
    part.verified = checks.verified;
    part.error = std::move(checks.error);
    return part;
  });
  std::uint32_t number = 0;
  // And how long it slept meanwhile.
  const auto checked_run = [&] {
    for (auto buffer : workload.received) buffer.poison();
    const auto asleep_ns = comm.asleep_ns();
    auto iteration = workload.run(number++, logged);
    const auto slept_ns = comm.asleep_ns() - asleep_ns;
    own.checks.add(workload.verify());
    return std::pair(std::move(iteration), slept_ns);
  };
  const auto uncounted = [&] { return static_cast<double>(checked_run().first.wall_ns) * 1e-9; };
  for (int run = 0; run < p.warmup_runs; ++run) {
    rendezvous.phase(fmt::format("warm-up run {}", run));
    uncounted();
  }
  PlannedBlocks planned;
  if (context.duet() != nullptr) {
    rendezvous.phase("planning blocks");
    planned = plan_iterations(context, index, p, uncounted, progress);
  }
  log.clear();
  std::vector<TimedMessages> timed(static_cast<std::size_t>(comm.size()),
                                   TimedMessages(p.ignore_bytes));
  int runs = 0;
  const auto measure_run = [&] {
    const auto run = runs++;
    rendezvous.phase(fmt::format("run {}", run));
    const auto begin = log.records().size();
    auto [iteration, slept_ns] = checked_run();
    own.asleep_ns += slept_ns;
    if (logged != nullptr && !iteration.messages) {
      iteration.messages =
          two_ends_of(comm, log.records().subspan(begin), log.dropped() == 0, iteration.met);
    }
    if (iteration.messages) {
      look_at_messages(iteration, *iteration.messages);
      for (const auto& message : *iteration.messages) {
        if (message.own.kind == Transfer::receive) timed.at(message.own.peer).add(message);
      }
      iteration.messages.reset();
    }
    own.iterations.push_back(std::move(iteration));
    const RankFacts last{
        .clock = own.clock, .iterations = {own.iterations.back()}, .checks = own.checks};
    const auto all =
        gather(rendezvous, fmt::format("run/{}/{}", index, run), to_json(last), progress);
    {
      const auto lock = under_way.change();
      transfers = log.records();
      for (std::size_t rank = 0; rank < all.size(); ++rank) {
        auto facts = parse_rank_facts(all[rank]);
        finished[rank].clock = std::move(facts.clock);
        finished[rank].iterations.push_back(std::move(facts.iterations.front()));
        finished[rank].checks = std::move(facts.checks);
      }
    }
    rendezvous.barrier(progress);
  };
  if (auto* duet = context.duet()) {
    duet->blocks(planned.quads, [&] {
      if (planned.iterations > 1) uncounted();  // the first after a change of sides is slow
      for (std::uint64_t i = 0; i < planned.iterations; ++i) measure_run();
    });
  } else {
    while (runs < p.runs) measure_run();
  }
  own.inflows = inflows_of(timed, comm.rank(), own.iterations, context.clock().step_ns());
  own.iterations.clear();  // rank 0 has them
  own.transfers_dropped = log.dropped();
  own.peak_buffer_bytes = peak_buffer_bytes();
  {
    const auto lock = under_way.change();
    context.report_transfers(index, log.records(), progress);
    transfers = {};
  }
  const auto gathered = gather(rendezvous, fmt::format("facts/{}", index), to_json(own), progress);
  if (comm.rank() == 0) {
    std::vector<RankFacts> ranks;
    for (const auto& facts : gathered) ranks.push_back(parse_rank_facts(facts));
    for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
      ranks[rank].iterations = finished[rank].iterations;
    }
    report(context, comm, index, p, phases, input_bytes, alone, ranks, workload, planned);
  }
  rendezvous.barrier(progress);
}

}  // namespace ucxbench
