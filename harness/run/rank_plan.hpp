#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "harness/launch/rendezvous.hpp"
#include "harness/result/result.hpp"
#include "harness/run/benchmark.hpp"
#include "harness/run/launch_plan.hpp"

// What ranks are told of a launch. It may come from another host: so it has data, and no names of
// files, which only the first supervisor reads.

namespace ucxbench {

/// A case's parameters less those that are for the first supervisor alone (Field::told).
Json parameters_for_ranks(const std::string& benchmark, Json parameters);

/// On a rank: throws Failure(Exit::lost) for a plan that no supervisor of ours makes, with a text
/// that may be a path, a parameter that the first host's options do not take, or an `asked`
/// variable that is neither UCX's nor Open MPI's, whose value would be told.
void check_rank_plan(const Json& plan);

/// By which a rank asks for a part of a case's data (Benchmark::data).
std::string data_key(std::size_t case_index, int rank, std::size_t part);

/// What there is under a key that a rank has asked for; empty for what is no such key.
std::optional<Rendezvous::Bytes> data_of(const Result& result, const LaunchPlan& plan,
                                         const std::string& key);

}  // namespace ucxbench
