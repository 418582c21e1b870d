#pragma once

#include "harness/result/result.hpp"

namespace ucxbench {

// What a run learns while it goes on, one event at a time: an object with one member, whose name
// says what it is. Events are what a run's journal has (run_file.hpp):
//   rank         facts of a rank for `ranks`; of rank 0 also "plan" and "ucx_effective", its
//                settings, and "libraries"
//   case         what a launch measured of a case: {index, records, checked, errors,
//                peak_buffer_bytes, error}; it is failed then, for ever, where payloads were wrong,
//                and skipped as long as no launch was long enough for the clock
//   protocols    more for the paths of a launch's records: {index, launch, src, protocols}
//   errors       counters that moved, for add_error_counters (trouble.hpp)
//   warning      {rank, line}, for add_ucx_warning
//   canary       a launch of a case of the host itself: {key, parameters, record}
//   memory_copy  for the first of `machine.hosts`
//   processors   around a launch: {launch, cases, seen, elsewhere: {host: seen}}
//   launch_time  for `run.launch_times`
//   state        how cases that measure no more end: {cases, state, reason}
//   run          members of `run` that are known now
//   part         a run by itself, of more launches of the same cases (append.hpp)

/// Adds an event to `result`; sum_up is due after the last. Throws a std::exception where it is
/// none, or not of this run.
void apply_event(Result& result, const Json& event);

/// Sets path, labels, metrics, pairs and phases of every case by its launches.
void sum_up(Result& result);

}  // namespace ucxbench
