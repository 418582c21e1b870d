#pragma once

#include <map>
#include <string>

#include "harness/result/result.hpp"

namespace ucxbench {

/// Of a payload: less than this by what was asked is not what was asked (--require, `check`).
inline constexpr double nearly_all_payload = 0.99;

/// What is not worth a word of the payload: connecting and answers.
inline constexpr double least_carried = 0.05;

/// The shares of the payload by member, "tcp" → 1.0; empty where nobody can tell.
std::map<std::string, double> carried_by(const Json& path);

/// "ib 90 %, tcp 10 %".
std::string shares_in_words(const std::map<std::string, double>& shares);

/// Whether a launch's record of what carried it must stand for its case instead of `other`: a case
/// is what its worst pair and launch were (as-asked, unknown, partly, other), and counters make a
/// record worth more than one of the same verdict without.
bool says_worse(const Json& path, const Json& other);

}  // namespace ucxbench
