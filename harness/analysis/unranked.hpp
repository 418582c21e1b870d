#pragma once

#include <optional>
#include <string>

#include "harness/core/names.hpp"
#include "harness/result/result.hpp"

namespace ucxbench {

struct Judged;

/// Why a case's figures do not stand for the transport set of its name, so that nothing ranks that
/// set by them, or advises it.
enum class Unranked {
  wrong_data,       ///< its Flaw, as the next four
  failed,           //
  impossible,       //
  no_bytes,         //
  time_sliced,      //
  launch_lost,      ///< a rank was lost in a launch that it was to be in
  incomplete,       ///< it has no figure of some pairs of ranks
  other_transport,  ///< the set did not carry all of it, in one launch at least
  overridden,       ///< the user's UCX_TLS was in force, and nothing shows that the set carried it
};

inline constexpr Names<Unranked, 9> unranked_names = {
    {{Unranked::wrong_data, "wrong-data"},
     {Unranked::failed, "failed"},
     {Unranked::impossible, "impossible"},
     {Unranked::no_bytes, "no-bytes"},
     {Unranked::time_sliced, "time-sliced"},
     {Unranked::launch_lost, "launch-lost"},
     {Unranked::incomplete, "incomplete"},
     {Unranked::other_transport, "other-transport"},
     {Unranked::overridden, "overridden"}}};

/// Empty where they stand for it. What was interrupted does, with its label.
std::optional<Unranked> why_unranked(const Judged& run, const Case& of);

/// "wrong data at byte offset 7 of …", "shm carried it".
std::string in_words(Unranked why, const Judged& run, const Case& of);

}  // namespace ucxbench
