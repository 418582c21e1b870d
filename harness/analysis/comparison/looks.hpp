#pragma once

#include <cstddef>
#include <vector>

#include "harness/result/result.hpp"

namespace ucxbench {

/// A moment at which rows of duets are judged: what is decided then need not be measured on.
struct Look {
  int after = 0;     ///< so many launches of each side
  double share = 1;  ///< of alpha, which it may spend; together at most 1
  /// Of launches beyond those of all cases: only rows that were measured up to it are tested.
  bool beyond = false;
  /// A row that is unchanged is decided, too, where its p-value by itself is larger; 1: none is.
  double unpromising = 1;
};

// Why looking early raises no more false alarms: each look has a share of alpha that stands before
// the first is taken, and a row's p-value over looks is the least of p/share. Without a change it
// is below alpha with a chance of at most the sum of the shares times alpha (Bonferroni), whatever
// the looks have to do with each other. A row that is left out after a look misses later ones,
// which could only have made its p-value smaller: so it may be left out for any reason, and Holm's
// correction over all rows keeps its promise. The interval of a look is of 1 - alpha·share, so that
// with a chance of 1 - alpha those of all looks hold (repeated confidence intervals: Jennison and
// Turnbull, J. R. Stat. Soc. B 51, 1989), whichever is the last. Beyond the launches of all cases,
// which cases go on depends on what was measured. So there a row is tested at looks alone whose
// number stood before, and not at all where it was left out in between.

/// How many times as many launches as others a case may have that is undecided then. With more, the
/// time that others leave would not suffice for one (docs/method/duets.md).
inline constexpr int launches_of_undecided = 3;

/// After how many of `launches` to look, when `tests` rows share `alpha`; the last is the end. The
/// first is the earliest at which duets can have a verdict (smallest_signed_rank_p), the others
/// follow a quarter of all launches apart. Where undecided cases may have `most`, they are looked
/// at again after one and a half, two and three times `launches`. Empty where there is only the
/// end.
std::vector<int> planned_looks(int launches, std::size_t tests, double alpha, int most = 0);

/// With the shares of alpha that are spent up to each look: the cube of its part of all `launches`
/// (Kim and DeMets, Biometrika 74, 1987, after Lan and DeMets, Biometrika 70, 1983). Less is spent
/// early than by the first power, which loses more at the end; O'Brien and Fleming's leave so
/// little that no number of duets up to two thirds of 24 could decide anything among 48 rows. Where
/// the last of `planned` is beyond `launches`, these have 70 % of it, and the rest is spent evenly.
std::vector<Look> looks_after(const std::vector<int>& planned, int launches);

/// Those that both runs of one `ab` had (`run.ab.looks`; all cases had `run.ab.planned` launches,
/// in older files as many as the last look). Of runs that ended sooner, between two of them, the
/// end is the last and has what is left of alpha: when it came says nothing about which side is
/// faster. One, of all launches, where they planned none.
std::vector<Look> looks_of(const Result& base, const Result& now);

/// How many duets a case of both may have in the end, by the same; 0 where they planned no looks.
int planned_duets(const Result& base, const Result& now);

}  // namespace ucxbench
