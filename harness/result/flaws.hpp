#pragma once

// What did not pass is no figure, however fast it was: a case that failed has no metrics, in memory
// and in its file. What it is then is said here, and nowhere else. What no machine gives is no
// figure either; that needs the run's topology (Judged::flaw_of), and the figure stays to be seen.

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "harness/core/names.hpp"
#include "harness/result/result.hpp"

namespace ucxbench {

/// Why a case's figures do not count.
enum class Flaw {
  wrong_data,   ///< a check found another content than was sent, or a wrong result
  failed,       ///< a rank was lost, or an error ended it
  interrupted,  ///< one of its launches was cut short
  impossible,   ///< a figure is one that no machine gives
  no_bytes,     ///< a rate is 0: of a launch, or of a pair of ranks
  time_sliced,  ///< is_time_sliced
};

inline constexpr Names<Flaw, 6> flaws = {{{Flaw::wrong_data, "wrong-data"},
                                          {Flaw::failed, "failed"},
                                          {Flaw::interrupted, "interrupted"},
                                          {Flaw::impossible, "impossible"},
                                          {Flaw::no_bytes, "no-bytes"},
                                          {Flaw::time_sliced, "time-sliced"}}};

/// Empty where the figures count: one of the first three. Judged::flaw_of knows all.
std::optional<Flaw> flaw_of(const Case& of);

/// Whether it did not pass. A case that was interrupted has no verdict, but its figures are shown,
/// with their label.
bool has_failed(const Case& of);

/// What the run says of it: "wrong data at byte offset 7 of …", "rank 1 on node2 was killed …".
std::string in_words(Flaw flaw, const Case& of);

/// Where a rate is 0 that runs are compared by: "2->5 moved nothing in 12 of 12 launches". Empty
/// where there is none.
std::string no_bytes_in_words(const Case& of);

/// Of a benchmark of every pair of ranks, those of which a measured case has no rate.
std::vector<std::pair<int, int>> pairs_without_figure(const Case& of);

/// "no figure of 2->5 (1 of 56 pairs)"; empty where there are none of those.
std::string missing_pairs_in_words(const Case& of);

/// Removes what follows from the launches of a case that failed, and leaves these: nobody who reads
/// its metrics can take them for good ones.
void drop_figures(Case& failed);

/// Fails the cases of a run file that are called measured but have errors, and drops the figures of
/// all that failed.
void fail_cases_of_older(Result& run);

}  // namespace ucxbench
