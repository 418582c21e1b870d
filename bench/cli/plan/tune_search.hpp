#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "harness/analysis/comparison/comparison.hpp"
#include "harness/launch/environment.hpp"
#include "harness/result/result.hpp"

namespace ucxbench {

/// What settings do beside the default.
struct Trial {
  /// Of each row, "KEY METRIC", and each pair of launches the logarithm of how many times as fast
  /// the settings are as the default.
  std::map<std::string, std::vector<double>> gains{};
  std::string problem{};  ///< why they cannot be measured; empty where they can

  /// The mean over rows of their medians; lowest() where nothing was measured.
  double score() const;
  /// The standard error of the score, by the median absolute deviation in each row; max() where a
  /// row has less than three values.
  double error() const;
};

/// Adds what a run with the default and one with settings, measured together, say: of duets and,
/// where there are none, of launches in turns.
void add_gains(const Result& base, const Result& now, Trial& trial);

/// Who measures.
class Trials {
 public:
  virtual ~Trials() = default;
  /// All that was measured of the settings, by `launches` pairs of launches at least.
  virtual Trial measure(const Variables& settings, int launches) = 0;
  /// Whether there is no time for more.
  virtual bool is_over() = 0;
};

struct Tuned {
  Variables settings{};    ///< empty: none was faster than the default
  double score = 0;        ///< Trial's
  std::size_t tried = 0;   ///< of the candidates
  bool cut_short = false;  ///< by time
};

/// Looks for the settings with the largest score. Successive halving (Jamieson and Talwalkar,
/// AISTATS 2016): every candidate is measured once, the better third twice, the better third of
/// these four times, and so on to the last two. What wins is combined with each of the other
/// promising candidates, likewise, as long as that gains another 2 % and three times the standard
/// error of the difference, twice at most.
/// What is found is the luckiest of many: it says nothing before it is confirmed by launches that
/// the search has not seen.
Tuned search_settings(const std::vector<Variables>& candidates, Trials& trials);

/// What a comparison of the default with settings says about them.
struct TuneVerdict {
  std::vector<SeriesChange> helps{}, costs{};  ///< the largest change first
  std::size_t undecided = 0;                   ///< rows without a verdict
  /// Why the settings are not worth it: nothing gains, or something loses as much. Empty: they are.
  std::string why_not{};
};
TuneVerdict verdict_on_settings(const Comparison& comparison);

/// The logarithm of how many times as fast the new side is.
double gain_of(const SeriesChange& series);

/// "5.2 times as fast (3.8 to 6.2)", slower ones "0.96 times as fast (0.93 to 0.98)".
std::string gain_in_words(const SeriesChange& series);

}  // namespace ucxbench
