#pragma once

// What did not pass is no figure, however fast it was: a case that failed has no metrics, in memory
// and in its file. What it is then is said here, and nowhere else. What no machine gives is no
// figure either; that needs the run's topology (Judged::flaw_of), and the figure stays to be seen.

#include <optional>
#include <string>

#include "harness/core/names.hpp"
#include "harness/result/result.hpp"

namespace ucxbench {

/// Why a case's figures do not count.
enum class Flaw {
  wrong_data,   ///< a check found another content than was sent, or a wrong result
  failed,       ///< a rank was lost, or an error ended it
  interrupted,  ///< one of its launches was cut short
  impossible,   ///< a figure is one that no machine gives: never of flaw_of(Case)
};

inline constexpr Names<Flaw, 4> flaws = {{{Flaw::wrong_data, "wrong-data"},
                                          {Flaw::failed, "failed"},
                                          {Flaw::interrupted, "interrupted"},
                                          {Flaw::impossible, "impossible"}}};

/// Empty where the figures count.
std::optional<Flaw> flaw_of(const Case& of);

/// Whether it did not pass. A case that was interrupted has no verdict, but its figures are shown,
/// with their label.
bool has_failed(const Case& of);

/// What the run says of it: "wrong data at byte offset 7 of …", "rank 1 on node2 was killed …".
std::string in_words(Flaw flaw, const Case& of);

/// Removes what follows from the launches of a case that failed, and leaves these: nobody who reads
/// its metrics can take them for good ones.
void drop_figures(Case& failed);

/// Fails the cases of a run file that are called measured but have errors, and drops the figures of
/// all that failed.
void fail_cases_of_older(Result& run);

}  // namespace ucxbench
