#pragma once

#include <string>
#include <vector>

#include "harness/analysis/rules/judged.hpp"

namespace ucxbench {

/// What a run itself answers to: what limits it, and which of its transport sets was the fastest
/// and by how much. A sentence each: of a workload with the most ranks, of messages the latency of
/// the smallest and the bandwidth of the largest that several sets have been measured with. A set
/// is called slower where its 95 % interval and that of the fastest are apart, and no other way.
/// Cases with labels answer nothing (labels_against_advice()), impossible figures are named first.
std::vector<std::string> answers_of(const Judged& run);

}  // namespace ucxbench
