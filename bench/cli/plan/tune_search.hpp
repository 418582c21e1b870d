#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "harness/analysis/comparison/comparison.hpp"
#include "harness/launch/environment.hpp"
#include "harness/result/result.hpp"

namespace ucxbench {

/// How settings compare with the default.
struct Trial {
  /// By row, "KEY METRIC": for each pair of launches the logarithm of the speed with the settings
  /// over that with the default.
  std::map<std::string, std::vector<double>> gains{};
  std::string problem{};  ///< why they cannot be measured; empty if they can

  /// The mean over rows of their medians; lowest() where nothing was measured.
  double score() const;
  /// The smallest and the largest of these medians, and 0.
  std::pair<double, double> extremes() const;
  /// The standard error of the score, by error_of_median of each row; max() if a row has fewer than
  /// three values.
  double error() const;
};

/// Adds the gains of two runs that were measured together, one with the default and one with the
/// settings: from duets, and where there are none from launches in turns.
void add_gains(const Result& base, const Result& now, Trial& trial);

/// Who measures.
class Trials {
 public:
  virtual ~Trials() = default;
  /// All that was measured of the settings, after at least `launches` pairs of launches.
  virtual Trial measure(const Variables& settings, int launches) = 0;
  /// Whether there is no time for more.
  virtual bool is_over() = 0;
};

struct Tuned {
  Variables settings{};   ///< empty: none was faster than the default
  double score = 0;       ///< Trial's
  std::size_t tried = 0;  ///< of the candidates
  /// Why the first of these that could not be measured was not; and how many were not.
  std::string problem{};
  std::size_t unmeasured = 0;
  bool cut_short = false;  ///< by time
};

/// Looks for the settings with the largest score by successive halving (Jamieson and Talwalkar,
/// AISTATS 2016): every candidate gets one pair of launches, the best third two, the best third of
/// these four, then eight. The winner is the first that loses less in each row than it gains in its
/// best. It is combined with each of the six next best candidates, in the
/// same way, at most twice. A combination is kept only if it gains another 2 % and three times the
/// standard error of the difference.
/// The result is also the luckiest of many: it must be confirmed by launches that the search has
/// not seen.
Tuned search_settings(const std::vector<Variables>& candidates, Trials& trials);

/// What fresh launches say of the settings.
enum class TuneOutcome {
  confirmed,     ///< a row has improved, and no loss stands against it
  unconfirmed,   ///< they seem faster, and no row has a verdict against them: too little is known
  refuted,       ///< no row has improved, and none may have
  losing,        ///< a row loses as much as the best one gains, or all together do
  missing,       ///< a case could not be measured with them
  incomparable,  ///< the two runs cannot be compared
};

/// What the comparison with the default says about the settings.
struct TuneVerdict {
  TuneOutcome outcome = TuneOutcome::refuted;
  std::vector<SeriesChange> helps{}, costs{};  ///< the largest change first
  std::vector<SeriesChange> undecided{};       ///< rows without a verdict
};
TuneVerdict verdict_on_settings(const Comparison& comparison);

/// "helps pingpong/tag/host-host/tcp/1MiB latency_us: 5.20 times as fast (3.80 to 6.20)", what
/// costs, and what has no verdict: "no verdict …: 1.11 times as fast (0.823 to 1.65), may lose up
/// to 18 %".
std::vector<std::string> in_words(const TuneVerdict& verdict);

/// Of an outcome that is none of the first two: why the settings are not worth it.
std::string why_not_in_words(const TuneVerdict& verdict, const Comparison& comparison);

/// "UCX_MAX_RNDV_RAILS=1 UCX_RNDV_THRESH=64k".
std::string settings_in_words(const Variables& settings);

/// The logarithm of how many times as fast the new side is.
double gain_of(const SeriesChange& series);

/// "5.20 times as fast"; what is slower: "0.960 of the speed".
std::string speed_in_words(double times);

/// "5.20 times as fast (3.80 to 6.20)", "0.960 of the speed (0.930 to 0.980)".
std::string gain_in_words(const SeriesChange& series);

}  // namespace ucxbench
