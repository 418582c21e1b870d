#pragma once

#include "harness/comm/transport_set.hpp"
#include "harness/core/failure.hpp"
#include "harness/result/result.hpp"

namespace ucxbench {

/// Adds what one launch says of a case: {records, checked, errors, peak_buffer_bytes, error}. It is
/// failed then, for ever, where payloads were wrong (Exit::wrong_data, otherwise Exit::done); and
/// skipped as long as no launch was long enough for the clock.
Exit add_case_report(Case& of, const TransportSet& set, const Json& report);

/// Sets `path` and `labels` by those of the launches.
void take_paths(Case& of, const TransportSet& set);

}  // namespace ucxbench
