#pragma once

#include <optional>

#include "harness/core/json.hpp"
#include "harness/core/names.hpp"

namespace ucxbench {

/// What a rank does in a phase of a workload.
enum class PhaseKind {
  computing,
  waiting,     ///< for messages, with nothing to compute meanwhile
  moving,      ///< messages, between pieces of computing
  exchanging,  ///< messages, where nothing is computed
  gap,         ///< nothing: the recorded time between messages
  not_ready,   ///< waiting for ranks that have not begun their part of any message
};

inline constexpr Names<PhaseKind, 6> phase_kinds = {{{PhaseKind::computing, "computing"},
                                                     {PhaseKind::waiting, "waiting"},
                                                     {PhaseKind::moving, "moving"},
                                                     {PhaseKind::exchanging, "exchanging"},
                                                     {PhaseKind::gap, "gap"},
                                                     {PhaseKind::not_ready, "not-ready"}}};

/// That of an element of Case::phases; empty if it has none that is known.
std::optional<PhaseKind> kind_of(const Json& phase);

}  // namespace ucxbench
