#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <string_view>

#include "harness/analysis/rules/rules.hpp"
#include "harness/result/words.hpp"

namespace ucxbench {
namespace {

/// In one finding; the run file has all.
constexpr std::size_t most_counters = 3;
constexpr std::size_t most_ranks = 4;
constexpr std::size_t most_of_a_line = 100;

/// One of machine.error_counters.
struct MovedCounter {
  std::string host;
  std::string name;   ///< "ib/mlx5_0:1/symbol_error"
  std::string owner;  ///< "ib/mlx5_0:1"
  std::string what;   ///< "symbol_error"
  double by = 0;
};

// Waiting and repeating belong to a busy network; the others do not.
constexpr std::array<std::string_view, 3> of_congestion = {"RetransSegs", "port_xmit_wait",
                                                           "np_cnp_sent"};

bool is_congestion(const MovedCounter& counter) {
  return std::ranges::find(of_congestion, counter.what) != of_congestion.end();
}

std::vector<MovedCounter> moved_counters(const Judged& run) {
  std::vector<MovedCounter> all;
  const auto found = run.result.machine.find("error_counters");
  if (found == run.result.machine.end() || !found->is_array()) return all;
  for (const auto& entry : *found) {
    const auto before = number_at(entry, "before");
    const auto after = number_at(entry, "after");
    const auto name = text_at(entry, "/name", "");
    const auto slash = name.rfind('/');
    if (!before || !after || *after <= *before || slash == std::string::npos) continue;
    all.push_back({.host = text_at(entry, "/host", "?"),
                   .name = name,
                   .owner = name.substr(0, slash),
                   .what = name.substr(slash + 1),
                   .by = *after - *before});
  }
  return all;
}

/// Of which use a counter's owner speaks: "net/eth0", "ib/mlx5_0:1", "nvlink/GPU3", "tcp".
Use use_of(const std::string& owner) {
  if (owner.starts_with("ib/")) return over_ib;
  if (owner.starts_with("nvlink/")) return over_nvlink;
  return over_tcp;
}

/// The network device that it is of; empty of TCP as a whole, and of NVLinks.
std::string device_of(const std::string& owner) {
  const bool named = owner.starts_with("ib/") || owner.starts_with("net/");
  return named ? owner.substr(owner.find('/') + 1) : "";
}

std::string look_at(const std::string& owner) {
  const auto device = owner.substr(owner.find('/') + 1);
  if (owner.starts_with("net/")) return "check cables: ethtool -S " + device;
  if (owner.starts_with("ib/")) return "check cables: perfquery";
  if (owner.starts_with("nvlink/")) return "nvidia-smi nvlink -e; look for Xid 74 in dmesg";
  return "find the connection: ss -ti; nstat -az";
}

/// One finding for each device of each host.
template <typename Takes>
std::vector<Finding> by_device(const Judged& run, Takes takes, const std::string& meaning) {
  std::map<std::pair<std::string, std::string>, std::vector<std::string>> devices;
  for (const auto& counter : moved_counters(run)) {
    if (!takes(counter)) continue;
    devices[{counter.host, counter.owner}].push_back(
        fmt::format("{} +{:.0f}", counter.what, counter.by));
  }
  std::vector<Finding> findings;
  for (auto& [device, moved] : devices) {
    if (moved.size() > most_counters) {
      const auto more = moved.size() - most_counters;
      moved.resize(most_counters);
      moved.push_back(fmt::format("{} more", more));
    }
    findings.push_back(
        {.subject = fmt::format("{} on {}", device.second, device.first),
         .evidence = fmt::format("{} during the run (all traffic): {}", join(moved, ", "), meaning),
         .next = look_at(device.second),
         .of = use_of(device.second),
         .device = device_of(device.second)});
  }
  return findings;
}

// What UCX 1.13 to 1.22 says one after the other where /dev/shm is full.
bool is_of_full_shm(std::string_view line) {
  constexpr std::array<std::string_view, 4> parts = {"mm_iface", "mm_recv_desc", "/dev/shm",
                                                     "first receive descriptor"};
  return std::ranges::any_of(
      parts, [&](std::string_view part) { return line.find(part) != std::string_view::npos; });
}

}  // namespace

std::vector<Finding> error_counters(const Judged& run) {
  return by_device(
      run, [](const MovedCounter& counter) { return !is_congestion(counter); },
      "data was lost or damaged");
}

std::vector<Finding> congestion(const Judged& run) {
  return by_device(run, is_congestion, "data waited or was sent again");
}

std::vector<Finding> ucx_warnings(const Judged& run) {
  std::vector<Finding> findings;
  const auto found = run.result.ucx.find("warnings");
  if (found == run.result.ucx.end() || !found->is_array()) return findings;
  const bool little_shm = !small_shm(run).empty();  // says it already, with what to do
  for (const auto& entry : *found) {
    const auto line = text_at(entry, "/line", "");
    const auto count = number_at(entry, "count");
    if (line.empty() || !count || (little_shm && is_of_full_shm(line))) continue;
    const auto told =
        line.size() > most_of_a_line ? line.substr(0, most_of_a_line - 3) + "..." : line;
    const auto ranks =
        entry.contains("ranks") ? texts_of(entry.at("ranks")) : std::vector<std::string>{};
    findings.push_back(
        {.subject = ranks.size() > most_ranks
                        ? fmt::format("UCX in {} ranks", ranks.size())
                        : fmt::format("UCX in {} {}", ranks.size() == 1 ? "rank" : "ranks",
                                      ranks.empty() ? "?" : join(ranks, ", ")),
         .evidence = *count > 1 ? fmt::format("{:.0f} times: {}", *count, told) : told,
         .next = "rerun with --ucx UCX_LOG_LEVEL=info"});
  }
  return findings;
}

}  // namespace ucxbench
