#include "workloads/common/rank.hpp"

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "harness/comm/counters.hpp"
#include "harness/comm/proof.hpp"
#include "harness/comm/transport_set.hpp"
#include "harness/run/case_under_way.hpp"
#include "harness/run/proof_record.hpp"
#include "harness/run/wire.hpp"

namespace ucxbench {
namespace {

// Enough for 64 ranks' messages of a few iterations; 48 MiB.
constexpr std::size_t log_capacity = std::size_t{1} << 20U;

// What carried the exchange alone: the devices' counters around it, on rank 0, and the lanes to all
// peers. The counters are of this host, so they say nothing of ranks on others.
Json path_of(const Communicator& comm, const WorkloadParameters& p, const Counters& counted,
             std::uint64_t payload_bytes) {
  Evidence evidence{.lanes = {}, .path = {}, .moved = counted, .payload_bytes = payload_bytes};
  for (int peer = 1; peer < comm.size(); ++peer) {
    for (const auto& lane : comm.lanes(peer)) {
      if (std::find(evidence.lanes.begin(), evidence.lanes.end(), lane) == evidence.lanes.end()) {
        evidence.lanes.push_back(lane);
      }
    }
  }
  const auto verdict = judge(TransportSet::of(p.transports), evidence);
  return {{"carried_by", verdict.carried},
          {"verdict", to_string(verdict.carrier)},
          {"why", verdict.why},
          {"bytes_by_counter", evidence.moved},
          {"payload_bytes", evidence.payload_bytes}};
}

bool share_a_gpu(const std::vector<RankFacts>& ranks) {
  std::set<std::string> gpus;
  return std::any_of(ranks.begin(), ranks.end(), [&](const RankFacts& rank) {
    return !rank.gpu.empty() && !gpus.insert(rank.gpu).second;
  });
}

// With the first error, in words.
std::pair<Verified, std::string> verified_of(const std::vector<RankFacts>& ranks) {
  Verified verified;
  std::string error;
  for (const auto& rank : ranks) {
    verified.checked += rank.iterations.size();
    verified.errors += rank.error.empty() ? 0 : 1;
    if (error.empty()) error = rank.error;
  }
  return {verified, error};
}

void report(RankContext& context, Communicator& comm, std::size_t index,
            const WorkloadParameters& p, std::span<const std::string_view> phases,
            std::uint64_t input_bytes, std::optional<double> alone, const Counters& counted,
            const std::vector<RankFacts>& ranks, const std::optional<CudaDevice>& gpu) {
  auto record = make_record(ranks, phases, input_bytes, alone, context.clock().step_ns());
  record.launch = context.plan().at("launch").get<int>();
  record.src = 0;
  record.dst = comm.size() > 1 ? 1 : 0;
  record.warmup_iterations = static_cast<std::uint64_t>(p.warmup_runs);
  if (comm.size() > 1) {
    const auto bytes = record.workload.at("exchange").at("bytes").get<double>();
    const auto exchanged = alone ? static_cast<std::uint64_t>(bytes * p.calibrations) : 0;
    record.lanes = comm.lanes(1);
    record.path = path_of(comm, p, counted, exchanged);
  }
  record.path["labels"] = path_labels(gpu, share_a_gpu(ranks), record.lanes);
  const auto [verified, error] = verified_of(ranks);
  std::uint64_t peak = 0;
  std::uint64_t asleep_ns = 0;
  for (const auto& rank : ranks) {
    peak = std::max(peak, rank.peak_buffer_bytes);
    asleep_ns += rank.asleep_ns;
  }
  if (asleep_ns > 0) record.overheads["asleep_ms"] = static_cast<double>(asleep_ns) * 1e-6;
  context.report_case(
      index, record, verified, error, [&] { comm.rest(context.rendezvous()); }, peak);
}

}  // namespace

void run_workload(RankContext& context, const WorkloadParameters& p,
                  const std::function<void(Communicator&, WorkloadMemory&)>& run_cases) {
  auto& rendezvous = context.rendezvous();
  rendezvous.phase("starting");
  WorkloadMemory memory(p, rendezvous.rank());
  Communicator comm(
      rendezvous,
      {.connect_by = p.connect_by, .net_devices = p.net_devices, .progress = p.progress});
  context.report_rank({{"net_devices", p.net_devices},
                       {"device", memory.device()},
                       {"ucx_effective", comm.effective()}},
                      [&] { comm.rest(rendezvous); });
  run_cases(comm, memory);
  comm.close(rendezvous);
}

void measure_workload(RankContext& context, Communicator& comm, std::size_t index,
                      const WorkloadParameters& p, std::span<const std::string_view> phases,
                      std::uint64_t input_bytes, const PreparedWorkload& workload) {
  auto& rendezvous = context.rendezvous();
  const auto progress = [&] { comm.rest(rendezvous); };
  RankFacts own;
  const auto check = [&] {
    auto error = workload.verify();
    if (own.error.empty()) own.error = std::move(error);
  };
  std::optional<double> alone;
  Counters counted;
  if (p.calibrations > 0 && comm.size() > 1) {
    rendezvous.phase("the exchange alone");
    const auto before = read_counters();
    alone = workload.exchange_alone_GBps();
    counted = moved(before, read_counters());
  }
  TransferLog log(p.transfer_log ? log_capacity : 0);
  auto* logged = p.transfer_log ? &log : nullptr;
  // On rank 0, of all ranks, what is finished; of the log, each rank's own.
  std::vector<RankFacts> finished(comm.rank() == 0 ? static_cast<std::size_t>(comm.size()) : 0);
  std::span<const Transfer> transfers;
  CaseUnderWay under_way(context, index, [&] {
    CaseUnderWay::Finished part{.transfers = transfers};
    if (finished.empty() || finished.front().iterations.empty()) return part;
    auto record = make_record(finished, phases, input_bytes, alone, context.clock().step_ns());
    record.launch = context.plan().at("launch").get<int>();
    record.dst = comm.size() > 1 ? 1 : 0;
    record.warmup_iterations = static_cast<std::uint64_t>(p.warmup_runs);
    part.records.push_back(std::move(record));
    std::tie(part.verified, part.error) = verified_of(finished);
    return part;
  });
  std::uint32_t number = 0;
  for (int run = 0; run < p.warmup_runs; ++run) {
    rendezvous.phase(fmt::format("warm-up run {}", run));
    workload.run(number++, logged);
    check();
  }
  log.clear();
  for (int run = 0; run < p.runs; ++run) {
    rendezvous.phase(fmt::format("run {}", run));
    const auto begin = log.records().size();
    const auto asleep_ns = comm.asleep_ns();
    auto iteration = workload.run(number++, logged);
    own.asleep_ns += comm.asleep_ns() - asleep_ns;
    iteration.busy_ns = busy_ns(log.records().subspan(begin));
    own.iterations.push_back(std::move(iteration));
    check();
    RankFacts last;
    last.iterations = {own.iterations.back()};
    last.error = own.error;
    const auto all =
        gather(rendezvous, fmt::format("run/{}/{}", index, run), to_json(last), progress);
    {
      const auto lock = under_way.change();
      transfers = log.records();
      for (std::size_t rank = 0; rank < all.size(); ++rank) {
        auto facts = parse_rank_facts(all[rank]);
        finished[rank].iterations.push_back(std::move(facts.iterations.front()));
        finished[rank].error = std::move(facts.error);
      }
    }
    rendezvous.barrier(progress);
  }
  own.inflows = inflows_of(log.records(), comm.rank(), comm.size(), p.ignore_bytes,
                           context.clock().step_ns());
  own.transfers_dropped = log.dropped();
  own.peak_buffer_bytes = peak_buffer_bytes();
  own.gpu = workload.gpu ? workload.gpu->pci : "";
  {
    const auto lock = under_way.change();
    context.report_transfers(index, log.records(), progress);
    transfers = {};
  }
  const auto gathered = gather(rendezvous, fmt::format("facts/{}", index), to_json(own), progress);
  if (comm.rank() == 0) {
    std::vector<RankFacts> ranks;
    for (const auto& facts : gathered) ranks.push_back(parse_rank_facts(facts));
    report(context, comm, index, p, phases, input_bytes, alone, counted, ranks, workload.gpu);
  }
  rendezvous.barrier(progress);
}

}  // namespace ucxbench
