#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/core/clock.hpp"
#include "harness/launch/duet.hpp"
#include "harness/launch/rendezvous.hpp"
#include "harness/memory/buffer.hpp"
#include "harness/memory/cuda_driver.hpp"
#include "harness/result/result.hpp"
#include "harness/result/transfers.hpp"
#include "harness/run/description.hpp"
#include "harness/run/gpu_sharing.hpp"

namespace ucxbench {

/// A case of a launch.
template <typename P>
struct PlannedCase {
  std::size_t index;  ///< in the run
  P parameters;
};

/// What a rank gets, and how it reports.
class RankContext {
 public:
  RankContext(Rendezvous& rendezvous, const Clock& clock, const Description& description, Json plan,
              DuetRank* duet = nullptr)
      : rendezvous_(rendezvous),
        clock_(clock),
        description_(description),
        plan_(std::move(plan)),
        duet_(duet) {}

  Rendezvous& rendezvous() { return rendezvous_; }
  const Clock& clock() const { return clock_; }
  /// {"launch", "cases": [{"index", "parameters"}]}
  const Json& plan() const { return plan_; }
  /// Whether some ranks wait for a processor.
  bool crowded() const { return plan_.at("crowded").get<bool>(); }
  /// Of a launch that is one side of a duet; it is in a phase then. Else null.
  DuetRank* duet() const { return duet_; }

  /// The cases of this launch, at least one; P is the struct of the benchmark's description.
  template <typename P>
  std::vector<PlannedCase<P>> cases() const {
    std::vector<PlannedCase<P>> all;
    for (const auto& planned : plan_.at("cases")) {
      all.push_back(
          {planned.at("index").get<std::size_t>(), description_.read<P>(planned.at("parameters"))});
    }
    return all;
  }

  /// A part of what the first supervisor has for this rank (Benchmark::data). Throws
  /// Failure(Exit::lost).
  Rendezvous::Bytes data(std::size_t index, std::size_t part, const Rendezvous::Progress& progress);

  /// This rank's GPU, if it has one, and further facts about it for `ranks[]`, with the settings
  /// that UCX really uses. All ranks call it once, before any case.
  void report_rank(const std::optional<CudaDevice>& gpu, const Json& facts,
                   const Rendezvous::Progress& progress);

  /// Of all ranks, once they have reported themselves.
  const GpusOfRanks& gpus() const { return *gpus_; }

  /// One case of this launch, done: by one rank of each pair. `error` says what was wrong with the
  /// data, if anything; `peak_bytes` how much message memory a rank had at most. Returns when the
  /// report is on disk.
  void report_case(std::size_t index, const LaunchRecord& record, const Verified& verified,
                   const std::string& error, const Rendezvous::Progress& progress,
                   std::uint64_t peak_bytes = peak_buffer_bytes()) {
    report_case(index, std::span(&record, 1), verified, error, progress, peak_bytes);
  }

  /// The same of several pairs, in one report.
  void report_case(std::size_t index, std::span<const LaunchRecord> records,
                   const Verified& verified, const std::string& error,
                   const Rendezvous::Progress& progress, std::uint64_t peak_bytes);

  /// This rank's transfers of a case, for the file beside the run file. Each rank calls it.
  void report_transfers(std::size_t index, std::span<const Transfer> records,
                        const Rendezvous::Progress& progress);

  using Report = std::pair<std::string, Rendezvous::Bytes>;  ///< by its key

  /// What the two above put. `at_stop`: the run may have the records already, and more follow not.
  Report case_report(std::size_t index, std::span<const LaunchRecord> records,
                     const Verified& verified, const std::string& error, std::uint64_t peak_bytes,
                     bool at_stop = false) const;
  std::vector<Report> transfer_reports(std::size_t index, std::span<const Transfer> records) const;

  /// More for `path.protocols` of a case that this launch has reported, by the rank that sent.
  void report_protocols(std::size_t index, int src, const Json& protocols);

  /// Error counters that moved in this launch, as moved_error_counters has them.
  void report_error_counters(const Json& moved);

 private:
  Rendezvous& rendezvous_;
  const Clock& clock_;
  const Description& description_;
  Json plan_;
  DuetRank* duet_;
  std::optional<GpusOfRanks> gpus_;
  std::uint64_t begun_ns_ = monotonic_ns();
};

/// The load of a published benchmark, for --like.
struct Preset {
  /// A value that grows with the data: times --scale to this power.
  struct Amount {
    std::string option;
    double value = 1;
    double power = 1;
  };
  std::string name;
  std::vector<Amount> amounts;
  std::map<std::string, std::string> others{};  ///< values of further options
};

/// Everything that the rest of the program knows of a benchmark; it is registered from a file in
/// the benchmark's folder.
struct Benchmark {
  std::string name;  ///< also of its command, and the first part of its keys
  std::string summary;
  std::vector<std::string> examples;  ///< command lines for its help, without the program's name
  Description parameters;
  std::vector<Preset> presets{};  ///< what --like of the workloads takes
  /// Options' values for a first look of some seconds; with some, the command has --quick.
  std::map<std::string, std::string> quick{};
  std::string (*no_gpu_memory)() = nullptr;  ///< why it cannot use any; empty: it can
  bool one_peer = false;   ///< each rank connects to one other, however many there are
  bool ablation = false;   ///< has --ablate
  int duet_ranks = 0;      ///< it can be a duet with at most so many ranks
  bool duet_gpus = false;  ///< and with memory of GPUs, of which both sides have theirs at once
  /// Why a case with these parameters can be none; empty: it can. Null: each can.
  std::string (*why_no_duet)(const Json& parameters) = nullptr;
  /// Another number where the ranks of both sides say other things to each other, in another order:
  /// builds that differ in it take turns.
  int duet_steps = 1;
  /// What a rank needs of a case beside its parameters, in parts of at most some MiB that it asks
  /// for: of files, which only the first supervisor reads. Empty: there is no such part.
  std::optional<Rendezvous::Bytes> (*data)(const Json& parameters, int rank,
                                           std::size_t part) = nullptr;
  /// Measures every case of the plan. Throws Failure, which it must not catch: while a stack
  /// unwinds, buffers go that a peer or UCX still uses.
  void (*run_rank)(RankContext& context);
  View shows{};  ///< what its cases show
};

/// Returns true, so that a namespace-scope constant can hold the call. A second benchmark of one
/// name ends the program.
bool register_benchmark(Benchmark benchmark);

/// Sorted by name.
const std::vector<Benchmark>& benchmarks();

/// Null for a name that is none's.
const Benchmark* find_benchmark(const std::string& name);

/// The main function of a rank process: meets the others, runs the plan, reports, and returns the
/// exit status. A failure ends the process from where it was thrown
/// (ChannelRendezvous::from_environment), so nothing around this may catch.
int rank_main();

}  // namespace ucxbench
