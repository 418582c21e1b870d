#include "harness/transports/error_counters.hpp"

#include <array>
#include <sstream>
#include <system_error>
#include <vector>

#include "harness/core/files.hpp"
#include "harness/topology/nvml.hpp"

namespace ucxbench {
namespace {

namespace fs = std::filesystem;
using ErrorCounters = std::map<std::string, std::uint64_t>;

// Documentation/ABI/testing/sysfs-class-net-statistics of Linux.
constexpr std::array of_net_device = {"rx_errors", "tx_errors", "rx_missed_errors", "tx_dropped"};
// PortCounters of the InfiniBand Architecture Specification, vol. 1, as the kernel names them.
constexpr std::array of_rdma_port = {"symbol_error",
                                     "link_error_recovery",
                                     "link_downed",
                                     "port_rcv_errors",
                                     "port_rcv_remote_physical_errors",
                                     "port_xmit_discards",
                                     "port_xmit_wait",
                                     "local_link_integrity_errors",
                                     "excessive_buffer_overrun_errors"};
// Of mlx5, then of soft-RoCE.
constexpr std::array of_rdma_hardware = {
    "out_of_sequence", "packet_seq_err", "rnr_nak_retry_err", "local_ack_timeout_err",
    "np_cnp_sent",     "rcvd_seq_err",   "rcvd_rnr_err",      "retry_exceeded_err"};

template <typename Names>
void add_files(const fs::path& folder, const Names& names, const std::string& prefix,
               ErrorCounters& all) {
  for (const auto* name : names) {
    if (const auto value = number_of(folder / name)) all[prefix + name] = *value;
  }
}

/// A line of names, then one of values, both beginning "Tcp:".
void add_tcp(const fs::path& snmp, ErrorCounters& all) {
  std::istringstream lines(text_of(snmp));
  std::vector<std::string> names;
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string word;
    if (!(words >> word) || word != "Tcp:") continue;
    std::vector<std::string> row;
    while (words >> word) row.push_back(word);
    if (names.empty()) {
      names = std::move(row);
      continue;
    }
    for (std::size_t at = 0; at < names.size() && at < row.size(); ++at) {
      if (names[at] != "RetransSegs" && names[at] != "InErrs") continue;
      std::uint64_t value = 0;
      if (std::istringstream(row[at]) >> value) all["tcp/" + names[at]] = value;
    }
    return;
  }
}

}  // namespace

std::map<std::string, std::uint64_t> read_error_counters(bool gpus, const fs::path& root) {
  ErrorCounters all;
  add_tcp(root / "proc/net/snmp", all);
  const auto net = root / "sys/class/net";
  for (const auto& device : entries_of(net)) {
    add_files(net / device / "statistics", of_net_device, "net/" + device + "/", all);
  }
  const auto infiniband = root / "sys/class/infiniband";
  for (const auto& device : entries_of(infiniband)) {
    for (const auto& number : entries_of(infiniband / device / "ports")) {
      const auto port = infiniband / device / "ports" / number;
      const auto prefix = "ib/" + device + ":" + number + "/";
      add_files(port / "counters", of_rdma_port, prefix, all);
      add_files(port / "hw_counters", of_rdma_hardware, prefix, all);
    }
  }
  if (!gpus) return all;
  for (const auto& [counter, value] : nvlink_errors()) all["nvlink/" + counter] = value;
  return all;
}

Json moved_error_counters(const ErrorCounters& before, const ErrorCounters& after) {
  Json all = Json::array();
  for (const auto& [name, now] : after) {
    const auto old = before.find(name);
    if (old == before.end() || now <= old->second) continue;
    all.push_back({{"name", name}, {"before", old->second}, {"after", now}});
  }
  return all;
}

}  // namespace ucxbench
