#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/core/names.hpp"
#include "harness/result/result.hpp"

namespace ucxbench {

/// Of a payload: less than this by what was asked is not what was asked (--require, `check`).
inline constexpr double nearly_all_payload = 0.99;

/// What is not worth a word of the payload: connecting and answers.
inline constexpr double least_carried = 0.05;

/// What became of what was asked, as "verdict" of a path says it. The worse, the later.
enum class PathVerdict { as_asked, unknown, partly, other };
inline constexpr Names<PathVerdict, 4> path_verdicts = {{{PathVerdict::as_asked, "as-asked"},
                                                         {PathVerdict::unknown, "unknown"},
                                                         {PathVerdict::partly, "partly"},
                                                         {PathVerdict::other, "other"}}};

/// Of members that were asked, or "auto" for any, by the shares of each member; unknown where there
/// are none. A counter sees headers and other traffic, too: what is below 5 % of a payload is not
/// it, and what is above 95 % is all of it.
PathVerdict verdict_of(const std::vector<std::string>& asked,
                       const std::map<std::string, double>& carried);

/// What a path of a case, a pair or a launch says.
PathVerdict verdict_in(const Json& path);

/// The shares of the payload by member, "tcp" → 1.0; empty where nobody can tell. Of launches or
/// pairs that differ, of which some are not known, they add up to less than 1 ("unknown_share").
std::map<std::string, double> carried_by(const Json& path);

/// "ib 90 %, tcp 10 %".
std::string shares_in_words(const std::map<std::string, double>& shares);

/// Whether each record of a case is of its two ranks alone; else all ranks speak at once, and one
/// record stands for all of them.
bool is_of_a_pair(const Case& of);

/// Fills Case::path, and "carried_by" of its pairs, from its launches. Shares are those of all
/// bytes, of the case over all its pairs and launches, of a pair over its launches. The verdict is
/// as-asked only where each of them is, and unknown where nothing worse is known than that one is
/// unknown; evidence and protocols are those of the worst of them.
void sum_paths(Case& of);

/// By pair of ranks, what sum_paths finds of its launches, with its medium.
std::map<std::pair<int, int>, Json> paths_of_pairs(const Case& of);

}  // namespace ucxbench
