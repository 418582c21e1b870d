#pragma once

// What a case shows to its readers. It is said once, when the case is planned, and stands in the
// run file: what comes after draws from this and knows no benchmark by name.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harness/core/json.hpp"
#include "harness/core/names.hpp"

namespace ucxbench {

/// How a table of cases is laid out, and what pictures there are of it.
enum class ViewKind {
  curve,           ///< times and rates over the message size
  matrix,          ///< a rate for every ordered pair of ranks
  first_messages,  ///< what first messages cost, by size, peers and kind of buffers
  workload,        ///< runs of all ranks together, with phases and an exchange
  canary,          ///< of the host, in no table (canary_benchmark)
};

/// Which pairs of ranks send at the same time.
enum class Concurrent {
  one,       ///< one ordered pair after the other, all others idle
  disjoint,  ///< rounds in which every rank has one partner at most, and one direction after the
             ///< other
  all,       ///< every rank to every other
};
inline constexpr Names<Concurrent, 3> concurrent_names = {
    {{Concurrent::one, "one"},
     {Concurrent::disjoint, "disjoint", "each rank in one"},
     {Concurrent::all, "all"}}};

/// Where a reader meets a metric: drawn and in tables, in tables only, in the run file only.
enum class Shown { drawn, listed, kept };

/// Whose messages a rate adds up, which says what is physically possible (physical_limit).
enum class SumOf {
  one_way,    ///< from one rank, or into one
  both_ways,  ///< between two ranks
  pairs,      ///< of all pairs of the case
  ranks,      ///< into all ranks
  none,       ///< it is no rate of messages: what a workload gets done
};

struct ShownMetric {
  std::string name;    ///< "bandwidth_GBps"
  std::string title;   ///< "bandwidth"
  std::string about;   ///< above a picture of it: "bandwidth one way as received"
  std::string unit;    ///< "us", "ms", "ns", "s", "GB/s", "1/s", "ratio"
  std::string better;  ///< "lower", "higher"
  /// Whether it is compared: not what follows from another metric, nor what is there for other
  /// tools.
  bool judged = true;
  Shown shown = Shown::listed;
  SumOf sum_of = SumOf::one_way;  ///< of a rate
};

/// What a metric's name does not say.
struct MetricNotes {
  std::string title{};  ///< if empty, the name without its unit
  std::string about{};  ///< if empty, the title
  bool judged = true;
  Shown shown = Shown::listed;
  SumOf sum_of = SumOf::one_way;
};

/// The rest follows from the end of its name, which is its unit: a time is better lower, a rate
/// or ratio higher. "latency_us" → latency in us.
ShownMetric metric_named(const std::string& name, const MetricNotes& notes = {});

/// Of ViewKind::workload: "wall_ms", "throughput_GBps", "exchange_GBps".
std::vector<ShownMetric> workload_metrics();

/// What tells the rows of a table apart: a parameter.
struct ShownAxis {
  enum class Unit {
    bytes,  ///< "4 KiB"
    count,  ///< of what `label` says: "4 ranks"
    pairs,  ///< one of Concurrent: "one pair"
    plain,  ///< a word by itself, a number after the label: "rows 1000"
  };
  std::string parameter;  ///< "bytes"
  std::string label;      ///< "size"
  Unit unit = Unit::plain;
};

ShownAxis message_size();     ///< "bytes"
ShownAxis number_of_ranks();  ///< "ranks"

/// The parameter that says how large a workload is.
struct Amount {
  std::string parameter;  ///< "rows"
  bool per_rank = true;   ///< else of all ranks together
  /// The work grows with this power of it: 2 for the edge of a square.
  int power = 1;
};

/// A parameter that says how UCX is used, and by which value most programs use it.
struct Usage {
  std::string parameter;     ///< "threads"
  Json usual;                ///< as run files have it: 1
  std::string next;          ///< what to do where another value costs: "use fewer threads"
  bool rates_alone = false;  ///< a time is no cost of it
};

/// What the cases of a benchmark show. The first axis is what a row is called by.
struct View {
  ViewKind kind = ViewKind::curve;
  std::vector<ShownAxis> axes{};
  std::vector<ShownMetric> metrics{};
  /// Unless an axis says it (ShownAxis::Unit::pairs).
  Concurrent at_once = Concurrent::all;
  std::optional<Amount> amount{};  ///< of a workload
  std::vector<Usage> usages{};
  /// Changes `metrics` for a case with these parameters; null: they are the same for all.
  void (*adapt)(const Json& parameters, std::vector<ShownMetric>& metrics) = nullptr;
  /// What a title says of the benchmark's own parameters: ", 4 endpoints"; null: nothing.
  std::string (*told)(const Json& parameters) = nullptr;
};

/// An axis of one case.
struct AxisValue {
  std::string name, label;
  Json value;
  std::string text;  ///< "4 KiB"
  std::string unit;  ///< "B", "pairs", or empty
  /// It follows from the number of ranks, because the case says how it is scaled.
  bool follows = false;
};

/// How the load of a workload's case goes with the number of ranks.
struct ShownScaling {
  std::string kind;    ///< "weak": as much for every rank; "strong": as much in all
  std::string amount;  ///< "rows"
  std::string asked;   ///< of it, for any number of ranks: "1000000"
};

/// What one case shows.
struct Shows {
  ViewKind kind = ViewKind::curve;
  std::string title{};  ///< of its table: "pingpong tag, host to host, over tcp"
  std::string block{};  ///< the same for cases that differ in their axes alone: one table
  Concurrent at_once = Concurrent::all;
  std::uint64_t ranks = 1;
  std::vector<AxisValue> axes{};
  std::optional<ShownScaling> scaling{};
  std::vector<ShownMetric> metrics{};
  std::vector<Usage> unusual{};  ///< those of which the case has another value
};

/// Of a case of `benchmark` with these parameters. An axis whose parameter it lacks is left out.
Shows shows_of(const View& view, const std::string& benchmark, const Json& parameters);

Json to_json(const Shows& shows);

/// Throws std::exception where it is not as to_json writes it.
Shows shows_from(const Json& json);

}  // namespace ucxbench
