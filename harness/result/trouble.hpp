#pragma once

#include <map>
#include <string>

#include "harness/result/result.hpp"

namespace ucxbench {

/// Adds a line of UCX's log to `ucx.warnings`: {line, count, ranks}, one for lines that differ only
/// in numbers and addresses; `line` is the first of them. Of so many kinds at most; what comes
/// after is dropped.
void add_ucx_warning(Json& ucx, int rank, const std::string& line);
inline constexpr std::size_t most_kinds_of_warning = 100;

/// The lines that were added, by what is equal of those that differ only in numbers.
std::map<std::string, std::string> ucx_warnings_of(const Json& ucx);

/// Adds what a rank saw move in one launch, {host, network_namespace, moved}, to
/// `machine.error_counters`: {host, network_namespace, name, before, after}, the widest span of
/// each counter over ranks and launches.
void add_error_counters(Json& machine, const Json& report);

}  // namespace ucxbench
