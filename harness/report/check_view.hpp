#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "harness/result/result.hpp"

namespace ucxbench {

/// Of one of `run.check.limits`: "tcp,nvlink, cuda, NV2".
std::string limit_subject(const Json& limit);

/// The same: "2.31 GB/s, limit >= 2 (+15 %), slowest pair 0->1 [site.toml:3]".
std::string limit_in_words(const Json& limit);

/// Of a run of `check`, with its verdict first: {"FAIL", "1 of 2 limits missed or not decided"},
/// then one of each limit: {"FAIL", "tcp, host: …"}. Empty for any other run.
std::vector<std::pair<std::string, std::string>> verdicts_in_words(const Result& result);

/// What findings say of hosts, ranks and links that are slower than the rest, worst first:
/// "node1->node3: 0.0103 GB/s, 20 % of what both reach with others (z -24)".
std::vector<std::string> outliers_in_words(const Result& result);

/// What UCX said in ranks, as the finding has it: who, and what.
std::vector<std::pair<std::string, std::string>> ucx_warnings_in_words(const Result& result);

/// Since 1970, of the time that stands at `pointer` of `json`, as run files have it.
std::optional<double> seconds_at(const Json& json, const std::string& pointer);

/// `run.check`. Throws Failure(Exit::usage), naming `format`, for a run that is none of check.
const Json& check_of(const Result& result, const std::string& format);
const Json& check_of(const Result&& result, const std::string& format) = delete;

}  // namespace ucxbench
