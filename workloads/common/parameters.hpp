#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harness/run/benchmark.hpp"
#include "harness/run/place.hpp"
#include "workloads/common/injected.hpp"

namespace ucxbench {

struct Local;

/// How a load grows with the number of ranks (--scaling): unsaid, each workload's size means what
/// it usually does; weak, every rank has as much whatever their number; strong, all together have.
enum class Scaling { unsaid, weak, strong };

/// What every workload's case has, beside its own parameters. Data are in one kind of memory, and
/// whoever has them computes.
struct WorkloadParameters : Place {
  Scaling scaling = Scaling::unsaid;
  std::string like;             ///< the published set-up that the load was taken from; empty: none
  std::optional<double> scale;  ///< its data times this; empty: once
  int warmup_runs = 1;
  int runs = 3;          ///< measured iterations of a launch
  int calibrations = 3;  ///< exchanges without computing, whose median counts; 0: none
  bool transfer_log = true;
  std::uint64_t ignore_bytes = std::uint64_t{1} << 20U;  ///< quantiles are over messages from here
  Injected injected = Injected::nothing;

  MemoryKind kind() const { return sent_from(); }
};

/// All of them; a workload names its own after. --like and --scale only where there are presets.
Fields<WorkloadParameters> workload_fields(const std::vector<Preset>& presets = {});
/// Those of a workload whose load and number of ranks are somebody else's.
Fields<WorkloadParameters> recorded_workload_fields();

/// --bulk-synchronous: `steps` without overlap.
template <typename P>
Fields<P> bulk_synchronous_field(bool P::* bulk_synchronous, const std::string& steps) {
  return flag_field(bulk_synchronous, {.name = "bulk-synchronous",
                                       .help = steps + ", one after the other",
                                       .group = "load",
                                       .key = Key::if_unusual});
}

// What a workload's rules begin with. Throw Failure(Exit::usage).
void settle_workload(WorkloadParameters& parameters);
void check_workload(const WorkloadParameters& parameters);

}  // namespace ucxbench
