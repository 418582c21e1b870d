#pragma once

#include <optional>

#include "harness/analysis/rules/judged.hpp"
#include "harness/result/media.hpp"

namespace ucxbench {

/// What the bytes crossed that cuda_ipc carried in one record of a case, between two ranks or, of a
/// benchmark whose ranks all speak at once, between all. NVLink's counters decide where they were
/// read and moved; else the class of the path in the topology does, unless it has NVLinks whose
/// counters stood still. Empty where cuda_ipc carried none.
std::optional<SeenMedium> medium_of(const Judged& run, const Case& of, const LaunchRecord& record);

/// Adds what medium_in finds to the path of each case and to its pairs: one medium of all records,
/// mixed where these differ.
void add_media(Result& result);

}  // namespace ucxbench
