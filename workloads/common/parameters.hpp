#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "harness/comm/endpoint.hpp"
#include "harness/memory/buffer.hpp"
#include "workloads/common/scaling.hpp"

namespace ucxbench {

/// What every workload's case has, beside its own parameters.
struct WorkloadParameters {
  MemoryKind memory = MemoryKind::host;  ///< where the data are, and so who computes
  bool pool = true;
  std::uint64_t pool_bytes = 0;  ///< 0: what the buffers need
  std::vector<int> devices;      ///< GPUs, rank by rank and round again; empty: all there are
  std::vector<std::string> transports;
  ConnectBy connect_by = ConnectBy::address;
  std::string net_devices;
  int ranks = 2;
  Scaling scaling = Scaling::unsaid;
  std::string like;  ///< the published set-up that the load was taken from; empty: none
  double scale = 1;  ///< its data times this
  int warmup_runs = 1;
  int runs = 3;          ///< measured iterations of a launch
  int calibrations = 3;  ///< exchanges without computing, whose median counts; 0: none
  bool transfer_log = true;
  std::uint64_t ignore_bytes = std::uint64_t{1} << 20U;  ///< quantiles are over messages from here
};

nlohmann::ordered_json to_json(const WorkloadParameters& parameters);
WorkloadParameters parse_workload_parameters(const nlohmann::ordered_json& json);

/// The "/name=value" parts that differ from the default, by name.
std::map<std::string, std::string> unusual(const WorkloadParameters& parameters);

}  // namespace ucxbench
