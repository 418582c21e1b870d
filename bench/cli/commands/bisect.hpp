#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>

#include "harness/core/json.hpp"

namespace ucxbench {

/// Whether a version has the change that is looked for.
enum class HasIt { no, yes, unknown };

/// The change came after `without` and no later than `with`. Of those between them nobody knows.
struct Bisected {
  std::size_t without = 0, with = 0;
};

/// Of 0 to `last`, of which 0 is without a change and `last` has it: where it came, if it stays
/// once it is there. `has_it` is asked of about log2(last) between them, and of one more for each
/// answer that is not known.
Bisected bisect(std::size_t last, const std::function<HasIt(std::size_t)>& has_it);

/// The one row of `versions` (versions_view.hpp) by which a search goes: another metric, or another
/// pair of ranks, may change elsewhere, and the other way round.
struct Followed {
  std::size_t row = 0;
  double change = 0;  ///< the logarithm of its ratio
};

/// The row that the version changed most, with a verdict; empty where it changed none.
std::optional<Followed> most_changed(const Json& versions, const std::string& name);

/// It has the change if its ratio is nearer to the followed one than to 1.
HasIt has_change(const Json& versions, const Followed& followed, const std::string& name);

/// Why it is not known whether the version has changed a row of that case: it cannot run, the case
/// failed, a row is inconclusive or missing. Empty where all of its rows have a verdict.
std::string why_undecided(const Json& versions, const std::string& key, const std::string& name);

/// "latency_us", with the pair of ranks where it is of one.
std::string name_of_row(const Json& versions, const Followed& followed);

}  // namespace ucxbench
