#pragma once

#include <string>
#include <string_view>

#include "harness/analysis/comparison/comparison.hpp"
#include "harness/core/json.hpp"
#include "harness/result/result.hpp"

namespace ucxbench {

/// How the messages of a case went that one of its metrics is of: UCX's protocols with their range
/// of sizes, where it tells them (from 1.16 on), and the lanes. Empty where nothing is known.
std::string way_of(const Case& of, std::string_view metric);

/// Adds the comparison of a version with the first one to the rows of `versions`, what
/// `ucx-bench versions --json` writes: {"schema", "started_utc", "command", "build", "machine" (id
/// and hosts; these four as in a run file, and not in older files), "suite", "versions": [{"name",
/// "libraries" (their folder), "ucx" (what it says of itself), "loaded" (which libraries, as
/// `run.ab.ucx`), "run", "base_run" (files), "problem", "failed": {KEY: why}, "nothing_decided"
/// (nothing_decided of its comparison)}], "rows": [{"key", "metric", "pair" (null, or
/// {"src", "dst", "text"} of a pair of ranks that a version changed), "better", "cells": {NAME:
/// {"verdict", "base", "new" (new is base times the ratio), "plain_base", "plain_new" (medians of
/// all launches), "ratio", "interval", "p_corrected", "why", "by", "before", "after" (way_of
/// each)}}}]}; unknown is null. Older files lack some. The first of "versions" has no run: each of
/// the others was measured together with it, and has its own figure of it, "base".
void add_version(Json& versions, const std::string& name, const Result& base, const Result& now,
                 const Comparison& comparison);

/// A row for each case and metric; for each version its base, its own figure, the change between
/// these, and the verdict.
std::string versions_table(const Json& versions);
std::string versions_markdown(const Json& versions);

}  // namespace ucxbench
