#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <future>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/core/json.hpp"
#include "harness/core/names.hpp"
#include "harness/core/or_null.hpp"
#include "harness/result/shows.hpp"

namespace ucxbench {

/// The name and major version of the run file; described by results/schema/run-1.schema.json.
inline constexpr const char* run_schema = "ucx-bench/run/1";

/// Order statistics of one set of samples, in the unit that the metric's name ends with. A quantile
/// that the number of samples cannot support is empty (p90 below 10 samples, p99 below 100, p999
/// below 1000), and is written as null.
struct Quantiles {
  std::uint64_t count = 0;
  std::optional<double> min{}, p50{}, p90{}, p99{}, p999{}, max{};
};

/// What one launch measured of one metric.
struct Samples {
  Quantiles quantiles{};         ///< over every sample seen
  std::uint64_t seen = 0;        ///< samples measured
  std::vector<double> values{};  ///< kept samples in run order: all of them, or an even choice
};

/// Costs that are paid once, in microseconds; empty where they were not measured.
struct Cold {
  std::optional<double> context_us{};        ///< ucp_init and worker creation
  std::optional<double> connect_us{};        ///< address exchange or listener until the first reply
  std::optional<double> first_message_us{};  ///< first round trip of this size / 2, unwarmed
};

/// What a host gave to the processors of a launch's first two ranks on it (host/processors.hpp).
struct Processors {
  double apart_ns = 0;  ///< what a word takes from one's cache to the other's
  double work_ns = 0;   ///< 1000 additions on each while both work
};

/// Before and after a launch; empty where there are no two that ranks are bound to.
using SeenProcessors = std::array<std::optional<Processors>, 2>;

/// What one side of a duet measured of one metric.
struct DuetBlocks {
  /// Whose the outer blocks of each quad are, in order: A for base, new, new, base, B for the other
  /// way round.
  std::string quads;
  std::uint64_t iterations = 0;  ///< that count, in each block
  std::vector<double> values{};  ///< this side's two blocks of each quad, in order
};

/// A launch that was one side of a duet (harness/launch/duet.hpp). The other side's run has one of
/// the same id and launch.
struct Duet {
  std::string id;     ///< 16 hexadecimal digits; what was drawn follows from it
  std::string first;  ///< which side was set up first: "base" or "new"
  std::map<std::string, DuetBlocks> blocks{};  ///< by metric name
};

/// One case in one launch, between one pair of ranks.
struct LaunchRecord {
  int launch = 0;
  int src = 0, dst = 1;          ///< ranks
  std::uint64_t iterations = 0;  ///< round trips of the latency part
  std::uint64_t messages = 0;    ///< messages of each bandwidth part
  std::uint64_t warmup_iterations = 0;
  Cold cold{};
  std::map<std::string, Samples> samples{};  ///< by metric name, e.g. "latency_us"
  /// Of measuring itself: "timestamp_ns", "untimed_mean_us", "timed_mean_us".
  std::map<std::string, double> overheads{};
  SeenProcessors processors{};
  std::map<std::string, SeenProcessors> processors_elsewhere{};  ///< of the other hosts, by name
  std::optional<Duet> duet{};
  std::vector<std::string> lanes{};  ///< configured lanes, "tcp/lo"
  /// What carried the messages: "protocols", "bytes_by_counter", "payload_bytes", "carried_by",
  /// "verdict", "why", "labels"; empty where nothing was asked.
  Json path = Json::object();
  /// Of a workload, over the launch's iterations and all ranks: "phases", "exchange", "pairs" as in
  /// Case. Of another benchmark that has one record for all pairs: "pairs" with "src", "dst" and
  /// "p50_GBps" alone. Else empty.
  Json workload = Json::object();
};

/// Of a case: what --launches, a suite and a comparison allow.
inline constexpr int most_launches = 10'000;

/// A metric of a case over its launches. p50 is the median over the launches' medians, p90..p999
/// are medians over the launches' own quantiles, empty if any launch lacks it; min and max are over
/// everything.
struct Metric {
  Quantiles quantiles{};                        ///< count = launches × pairs
  std::optional<std::array<double, 2>> ci95{};  ///< of p50, over ≥ 6 launch medians
  std::uint64_t samples_seen = 0;
  std::string better{};                  ///< "lower" or "higher"
  std::vector<double> launch_medians{};  ///< in launch order
};

enum class CaseState { planned, measured, skipped, failed };

enum class SkipCause {
  unavailable,  ///< the machine, the build or UCX cannot run it
  no_time,      ///< max_time was over before its first launch
  run_ended,    ///< the run ended before it
  too_short,    ///< no launch of it took long enough for a figure
};

inline constexpr Names<SkipCause, 4> skip_causes = {{{SkipCause::unavailable, "unavailable"},
                                                     {SkipCause::no_time, "no-time"},
                                                     {SkipCause::run_ended, "run-ended"},
                                                     {SkipCause::too_short, "too-short"}}};

struct Verified {
  std::uint64_t checked = 0;  ///< messages compared byte by byte
  std::uint64_t errors = 0;
};

struct Case {
  std::string key{};        ///< "pingpong/tag/host-host/tcp/1MiB", stable across versions
  std::string benchmark{};  ///< "pingpong"
  Json parameters{};        ///< api, bytes, window, memory, transports, …
  Shows shows{};
  CaseState state = CaseState::planned;
  std::optional<SkipCause> skip_cause{};  ///< of a skipped case; empty in an older run file
  std::string reason{};                   ///< why skipped or failed, as a sentence
  std::string in_turns{};                 ///< of a run of ab: why it was no duet; else empty
  /// Of a run over several hosts the host of each of its ranks. A run's cases may have more or
  /// fewer ranks, or put neighbours on two hosts: each has a host of rank 1 of its own.
  std::vector<std::string> hosts{};
  std::vector<LaunchRecord> launches{};     ///< in the order measured
  std::map<std::string, Metric> metrics{};  ///< by metric name; of a failed case none
  Json path = Json::object();  ///< asked, lanes, and what sum_paths makes of its launches
  Json pairs = Json::array();  ///< per pair of ranks
  /// Of a workload: name, kind (PhaseKind), median_ms, share of the wall time, slowest_rank,
  /// slowest_ms, per phase.
  Json phases = Json::array();
  /// Of a workload, per iteration: bytes between ranks, alone_GBps (all ranks together, nothing
  /// else running), busy_ms, exposed_ms, not_ready_ms (of a replay), overlap, egress_imbalance
  /// (max/mean). Medians of launches. limit_GBps and limited_by as `limits`, of all ranks together.
  Json exchange = Json::object();
  /// Between GPUs: what links let the pairs reach, per class of path (analysis/run_limits.hpp).
  Json limits = Json::array();
  /// Likewise: what crosses each link that they take, GB/s, in each direction.
  Json links = Json::array();
  /// Of pairs of three hosts or more: which host or link is slow (analysis/sweep/sweep.hpp).
  Json sweep = Json::object();
  Verified verified{};
  std::uint64_t peak_buffer_bytes = 0;
  std::vector<std::string> labels{};
};

/// A case of this benchmark is not of UCX but of the host itself, measured before each round of
/// launches: where it changes from one run to another, so did the host.
inline constexpr const char* canary_benchmark = "canary";

/// A whole run: what was asked, what was effective, every case. Plain data.
struct Result {
  Json run = Json::object();      ///< id, started_utc, finished_utc, command, state, tags
  Json build = Json::object();    ///< version, commit, dirty, compiler, flags
  Json machine = Json::object();  ///< id, hosts, labels, topology_hash
  Json ucx = Json::object();      ///< version, library, configuration files, environment
  Json ranks = Json::array();     ///< rank, host, pid, cpus, numa_node, net_devices
  std::vector<Case> cases{};
  Json findings = Json::array();
  /// Ways of communicating, held against each other (analysis/comparison/ablation.hpp).
  Json ablation = Json::array();
  /// Of a run of loggp: the model's parameters, and how well they fit (analysis/loggp.hpp).
  Json loggp = Json::array();
  Json topology = Json::object();
  /// Where the run file is or will be; not written. Files beside it are named relative to it.
  std::filesystem::path file{};
};

std::string to_string(CaseState state);

/// That of a run file; throws std::invalid_argument for any other name.
CaseState case_state_named(const std::string& name);

/// "skip_cause" of a case in a run file or of a state in a journal; throws std::invalid_argument
/// for a name that is not known.
std::optional<SkipCause> skip_cause_in(const Json& json);

/// The run file as JSON: doubles rounded to six significant digits, unknown and non-finite numbers
/// null. A case that is still planned is written as skipped, "not reached".
Json to_json(const Result& result);

/// The same with an empty list in place of each case's launches.
Json without_launches(const Result& result);

/// With the digits that its file has, and no case planned any more. Launches are left as they are:
/// those that ranks have reported have these digits.
Result as_its_file_has_it(Result run);

/// One entry of `launches[]`, which is also how a rank reports it.
Json launch_to_json(const LaunchRecord& record);
LaunchRecord launch_from_json(const Json& json);

/// Its `processors`: a list of two.
Json processors_to_json(const SeenProcessors& seen);
SeenProcessors processors_from_json(const Json& json);

/// `json` as text for people and for diffs: two spaces of indent, but a list of plain values, and
/// an object of them that is short, on one line, as is each entry of a list of more than 1000.
/// Bytes that are not UTF-8 are replaced.
std::string to_text(const Json& json);

/// What the run file says of each case's launches. Of many it is made meanwhile, by other threads:
/// until it is used, the launches must not change.
using LaunchTexts = std::future<std::vector<std::string>>;
LaunchTexts begin_launch_texts(const Result& result);

/// The run file: what to_json makes of it as such text, without its JSON as a whole.
std::string run_text(const Result& result);
std::string run_text(const Result& result, LaunchTexts launches);

/// Throws Failure(Exit::usage) with one line when `text` is not a run file of this schema: not JSON
/// (truncated), another schema, a newer version.
Result parse_result(const std::string& text, const std::string& name);

/// Reads and parses a run file; unreadable is a usage failure as well. Of a run that ended before
/// its file was whole, `file` or the journal beside it, it takes what is in both, and says so on
/// stderr.
Result read_result(const std::filesystem::path& file);

/// Fills `metrics` and `pairs` (of a canary none) from a case's launches, of one that failed none.
/// A pair's `messages` are the sum of its launches', `bytes` their payload, its quartiles over the
/// kept bandwidth samples.
void summarize(Case& measured);

}  // namespace ucxbench
