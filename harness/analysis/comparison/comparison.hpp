#pragma once

#include <array>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "harness/analysis/comparison/looks.hpp"
#include "harness/analysis/comparison/rank_tests.hpp"
#include "harness/analysis/rules/modes.hpp"
#include "harness/core/names.hpp"
#include "harness/result/result.hpp"

namespace ucxbench {

/// What became of one metric of one case from a base run to a new one. Failed: the new run gave
/// wrong data, lost a rank, or moved nothing in a launch, so that it has no figure.
enum class Change { failed, regressed, improved, inconclusive, missing, added, unchanged };
std::string_view to_string(Change change);

/// What more launches, or a quieter machine, would end.
enum class Doubt { none, too_few_launches, too_noisy };

/// What is held against each other: launches of each run, or pairs that ran side by side.
enum class Method { launches, duets };
std::string_view to_string(Method method);

/// Why a row is inconclusive or failed, or what explains its change.
enum class Reason {
  none,
  launches,     ///< they are too few
  noise,        ///< it hides a change that would matter
  clock,        ///< it is too coarse
  placement,    ///< launches of one placement changed otherwise, or are too few
  drift,        ///< a run changed from its first launch to its last
  host,         ///< its reference drifted
  pairs,        ///< the runs have different ones
  time_sliced,  ///< its ranks take turns on one GPU
  wrong_data,   ///< a run did not pass (result/flaws.hpp): a check found wrong data,
  failed,       ///< or a rank was lost;
  interrupted,  ///< or one of its launches was cut short
  impossible,   ///< or it has a figure that no machine gives
  zero,         ///< launches with a rate of 0, which failed, or a time of 0
  unit,         ///< the runs have it in different ones
  transport,    ///< of a change: the bytes went by another one, or over another medium
};
inline constexpr Names<Reason, 16> reason_names = {{{Reason::none, ""},
                                                    {Reason::launches, "launches"},
                                                    {Reason::noise, "noise"},
                                                    {Reason::clock, "clock"},
                                                    {Reason::placement, "placement"},
                                                    {Reason::drift, "drift"},
                                                    {Reason::host, "host"},
                                                    {Reason::pairs, "pairs"},
                                                    {Reason::time_sliced, "time-sliced"},
                                                    {Reason::wrong_data, "wrong-data"},
                                                    {Reason::failed, "failed"},
                                                    {Reason::interrupted, "interrupted"},
                                                    {Reason::impossible, "impossible"},
                                                    {Reason::zero, "zero"},
                                                    {Reason::unit, "unit"},
                                                    {Reason::transport, "transport"}}};

/// The pair of ranks that a row is of, among all of its case.
struct RowPair {
  int src = 0, dst = 0;  ///< of the new run, where it has the pair
  /// What the base run calls them, where it has the pair.
  std::optional<std::pair<int, int>> in_base{};
  std::string src_host{}, dst_host{};  ///< empty where the run does not know them
  bool several_hosts = false;          ///< the run has ranks on more than one
  /// How many pairs the row is of: of more than one it is the slowest of them in each launch, and
  /// `src` and `dst` are those of the slowest in the new run.
  std::size_t slowest_of = 1;
  /// Rows with the same verdict for which this one, the worst of them, stands. Rows that changed
  /// stand for themselves.
  std::size_t stands_for = 1;
  bool of_one_run = false;  ///< the other does not have it
};

/// "pair 3->5 (node1->node2), worst of 55"; of one run "pair 3->5 and 54 more"; where the base run
/// calls it otherwise "pair 3->5 (node1->node2; 1->2 in the base run)".
std::string in_words(const RowPair& pair);

struct SeriesChange {
  std::string key;     ///< the case's
  std::string metric;  ///< "latency_us"
  /// Empty of a row of the case as a whole, whose value is the median over all pairs.
  std::optional<RowPair> pair{};
  std::string better{};  ///< "lower" or "higher"
  Change change = Change::inconclusive;
  /// What stands beside the figures (labels_of): "vm, same-gpu", or "vm -> vm, same-gpu" where
  /// those of the two runs differ; empty where there is none.
  std::string labels{};
  /// What carried the bytes in the base run and in the new one, and over what medium: "shm",
  /// "cuda_ipc over NVLink, tcp"; empty where nobody can tell (carriers.hpp).
  std::array<std::string, 2> carriers{};
  Method method = Method::launches;
  /// Of launches of both sides of one `ab`: why they were no duets; else empty.
  std::string in_turns{};
  /// Medians over all launches, in the metric's unit; empty where nothing is tested.
  std::optional<double> base{}, now{};
  /// Medians over the launches that are compared, without what their placements make of them: these
  /// differ as `ratio` says (Matched).
  std::optional<double> matched_base{}, matched_now{};
  std::size_t base_launches = 0, new_launches = 0;  ///< that are compared; or duets
  Ratio ratio{};                                    ///< new / base, within placements
  /// Of this row alone; of duets over the looks at them (looks.hpp).
  double p = 1;
  double p_alone = 1;     ///< of duets at the last look, by itself
  double p_of_all = 1;    ///< of all duets, also those of no look; nothing is tested by it
  bool decided = false;   ///< of duets: they need not go on
  double smallest_p = 1;  ///< that so many launches could have
  double corrected = 1;   ///< Holm's, over all tests of the comparison
  double resolution = 0;  ///< relative: a step of the medians (step_of)
  /// The least relative change that counts: of 0.5, to 1.5 times as much, or to a 1.5th.
  double floor = 0;
  /// From the first launch to the last, relative; empty where a run does not drift.
  std::optional<double> base_drift{}, new_drift{};
  /// Where launches of one placement changed otherwise than those of another, by more than chance:
  /// both changes, in words. There is no one figure then.
  std::string differs_by_placement{};
  std::optional<Modes> base_modes{}, new_modes{};  ///< of the launches, if there are two
  /// Why it is inconclusive, where this is all that stands against a verdict, and how many launches
  /// of each run would end that, if as many are not compared as of `launches_run`.
  Doubt doubt = Doubt::none;
  std::size_t launches_run = 0;  ///< of the run with more, also those that are not compared
  std::size_t launches_wanted = 0;
  Reason reason = Reason::none;
  /// The base run's figure does not count, but the new one's does: that is a better base.
  bool base_is_flawed = false;
  /// One line, with what to do unless next_steps say that; empty of no change, and of a change that
  /// nothing explains.
  std::string why{};
  /// What is odd about these launches, whatever the verdict: modes, a drift that met both alike.
  std::string remark{};
};

/// What --alpha is where nobody says otherwise: half of the 1 % of runs that may raise a false
/// alarm, since launches of one run are not quite independent (docs/method/verdict-study.md).
inline constexpr double usual_alpha = 0.005;

/// What a comparison holds against the two runs.
struct Demands {
  double alpha = usual_alpha;  ///< chance of any false alarm in a comparison without a change
  double floor = 0.005;        ///< as SeriesChange::floor; changes up to this do not count
  /// The environments differ on purpose: deciding_differences are no reason against a verdict.
  bool across_environments = false;
};

struct Comparison {
  double alpha = usual_alpha;
  std::vector<Look> looks{};  ///< at which rows of duets were judged
  std::size_t tests = 0;
  /// Why the two runs cannot be compared at all: another machine, or another environment
  /// (deciding_differences). Then there are no verdicts.
  std::string incomparable{};
  /// That the new run failed, whatever it has measured; empty where it did not.
  std::string lost{};
  /// Of the environment, "UCX 1.13.1 -> 1.22.0"; that the placement of the ranks' processors
  /// changed (Placements::in_brief); that both are one run (halves_in_turns); why rows of ab are no
  /// duets; and, where there is a change, that the runs did not take turns.
  std::vector<std::string> differences{};
  std::string
      placements{};  ///< each with its share of both runs' launches; empty: not more than one
  /// What both runs measured of the host itself; of no other test's family.
  std::vector<SeriesChange> canaries{};
  /// Which canaries changed: "canary/memcpy copy_GBps 8.1 -> 6.0 (-25.9 %)". Unless it is empty,
  /// what this may have made is inconclusive (host_drift.hpp).
  std::string host_changed{};
  std::vector<SeriesChange> series{};  ///< the most certain loss first
  /// By key, the cases of the base run and of the new one with a figure that no machine gives, and
  /// what is said of it. Nothing draws what they have.
  std::array<std::map<std::string, std::string>, 2> impossible{};
  /// Of cases with pairs of ranks, by key, where the same ranks have other numbers: the base run's
  /// by the new run's.
  std::map<std::string, std::map<int, int>> base_ranks{};
  /// One line for all series of a kind that have no verdict, with what to do (next_steps.hpp).
  std::vector<std::string> next_steps{};
};

/// What the row is of: the case's key, the pair of ranks if it is of one, and the metric.
std::string name_of(const SeriesChange& series);

/// The rows that a reader needs: of those of pairs, all that changed, and of each other verdict of
/// a case's metric the worst, which stands for the others (RowPair::stands_for). In their order.
std::vector<SeriesChange> folded_rows(const Comparison& comparison);

/// The same for tables: pairs that one run alone has are one row for each case, which names all
/// their metrics.
std::vector<SeriesChange> printed_rows(const Comparison& comparison);

/// Whether what carried the bytes is known of both runs, and differs.
bool other_carriers(const SeriesChange& series);

/// The new run's figure beside `matched_base`, from which a reader gets the change: matched_base
/// times the estimated ratio, which is the median of all ratios and not that of the medians.
std::optional<double> matched_new(const SeriesChange& series);

/// The change in units of the floor, on logarithms: one that counts has more than 1.
double times_the_floor(const SeriesChange& series);

/// The floor as a change of the same direction, which readers hold against it: of 0.5, 50 % more or
/// 33 % less.
double shown_floor(const SeriesChange& series);

/// The launches that both runs need, or the duets, for any verdict among so many tests, a p-value
/// being corrected for all of them.
std::size_t launches_needed(std::size_t tests, double alpha, Method method = Method::launches);

/// Whether something is worse for certain: a row regressed or failed, or the new run did.
bool has_loss(const Comparison& comparison);

/// Compares every metric of every case by its launches' medians, launches being what is
/// independent, each with those that met the same placement (Placements::matched). A metric that a
/// launch has of several pairs of ranks has a row for each pair beside that of their median
/// (pairs.hpp), and all rows are tests of one family. A change is one
/// only if all of this holds: the corrected p-value of the rank test is below `alpha`, so that a
/// run without any change raises a false alarm with less than that chance; and the ratio differs
/// from 1 by a factor of more than `floor`, by more than the clock resolves (step_of), and by more
/// than twice the noise of the two series (the standard error of the ratio of their medians). It is
/// unchanged if the ratio's interval, of 1 − alpha, leaves no room for a change of 5 % or of the
/// floor. A canary (canary_benchmark) that changed by the same rules makes inconclusive what it
/// explains (doubt_what_the_host_explains), a drift the series that has it (look_at_shapes).
/// Metrics that follow from others (message rate, throughput) and those kept for other tools are
/// left out. Duets that `ab` looked at before their end are judged as it did, look after look
/// (looks.hpp).
Comparison compare(const Result& base, const Result& now, const Demands& demands = {});

}  // namespace ucxbench
