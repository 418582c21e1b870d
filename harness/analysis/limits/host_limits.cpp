#include "harness/analysis/limits/host_limits.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "harness/analysis/limits/calibration.hpp"
#include "harness/analysis/limits/carriers.hpp"
#include "harness/analysis/limits/limits.hpp"
#include "harness/result/cases.hpp"
#include "harness/result/words.hpp"

namespace ucxbench {
namespace {

/// What memcpy reached on some cores.
struct CopyRate {
  double GBps = 0;
  std::string source;
};

std::optional<CopyRate> copy_rate(const Json& host, const char* cores) {
  const auto measured = host.value("memory_copy", Json::object()).value(cores, Json::object());
  const auto GBps = number_at(measured, "copy_GBps");
  if (!GBps || *GBps <= 0) return std::nullopt;
  const auto cpus = texts_of(measured.value("cpus", Json()));
  return CopyRate{*GBps, fmt::format("memcpy of {} GB/s on CPU{} {}", significant(*GBps, 3),
                                     cpus.size() == 1 ? "" : "s", join(cpus, ", "))};
}

std::set<int> ranks_of_host(const Json& host, const Result& result) {
  std::set<int> ranks;
  for (const auto& rank : result.ranks) {
    if (rank.value("host", Json()) == host.value("name", Json("?"))) {
      ranks.insert(rank.at("rank").get<int>());
    }
  }
  return ranks;
}

/// How often a byte is copied on its way; empty where that is not known.
std::optional<int> copies_by(const Carrier& carrier) {
  const auto single = [](const std::string& lane) {
    return lane.starts_with("cma/") || lane.starts_with("knem/");
  };
  const auto twice = [](const std::string& lane) {
    return lane.starts_with("posix/") || lane.starts_with("sysv/") ||
           lane.starts_with("unix/");  // into the kernel and out of it
  };
  const auto& lanes = carrier.used.empty() ? carrier.lanes : carrier.used;
  if (!lanes.empty() && std::ranges::all_of(lanes, twice)) return 2;
  if (!lanes.empty() && std::ranges::all_of(lanes, single)) return 1;
  // Segments cannot be read for a message that lies elsewhere.
  if (carrier.used.empty() && carrier.read && std::ranges::any_of(lanes, single)) return 1;
  return std::nullopt;
}

/// The pairs of a case over shared memory, and what they load.
class CopiedPairs {
 public:
  CopiedPairs(const CopyRate& one_core, const CopyRate& all_cores) : one_core_(one_core) {
    resources_.push_back({.name = "host memory",
                          .GBps = 2 * all_cores.GBps,
                          .source = all_cores.source,
                          .calibrated = true});
  }

  void add(std::size_t pair, int src, int dst, double bytes, std::optional<int> copies) {
    FlowLimit limit;
    limit.uses.emplace_back(0, 2 * copies.value_or(1));
    limit.uses.emplace_back(core_of(dst), 1);
    if (copies == 2) limit.uses.emplace_back(core_of(src), 1);
    uses_.push_back(std::move(limit));
    flows_.push_back({.bytes = bytes});
    found_.push_back({.pair = pair,
                      .complete = copies.has_value(),
                      .detail = copies == 2 ? ", copied twice" : ""});
  }

  void judge(Case& of) && {
    const auto limits = limits_over(std::move(resources_), std::move(uses_), flows_);
    if (is_exchange(of)) return add_calibrated_exchange(of, flows_, limits);
    std::vector<std::optional<double>> shares(flows_.size());
    // What other pairs take than the known ones, nobody can tell.
    if (all_at_once(of) && flows_.size() == of.pairs.size()) shares = fair_shares(flows_, limits);
    for (std::size_t i = 0; i < found_.size(); ++i) {
      const auto& by = limits.resources[*limits.flows[i].alone_by];
      found_[i].GBps = *limits.flows[i].alone_GBps;
      found_[i].share_GBps = shares[i];
      found_[i].pair_class = "memory";
      found_[i].path = "shm";
      found_[i].resource = by.name;
      found_[i].detail = by.source + found_[i].detail;
    }
    add_calibrated(of, found_);
  }

 private:
  std::size_t core_of(int rank) {
    const auto [found, added] = cores_.emplace(rank, resources_.size());
    if (added) {
      resources_.push_back({.name = fmt::format("host memory, by the core of rank {}", rank),
                            .GBps = one_core_.GBps,
                            .source = one_core_.source,
                            .calibrated = true});
    }
    return found->second;
  }

  CopyRate one_core_;
  std::map<int, std::size_t> cores_;
  std::vector<SharedResource> resources_;
  std::vector<FlowLimit> uses_;
  std::vector<Flow> flows_;
  std::vector<CalibratedLimit> found_;
};

}  // namespace

void add_host_limits(Case& of, const Result& result) {
  const auto host = first_host(result);
  if (!of_memory(of, "host") || !host.is_object()) return;
  const auto one_core = copy_rate(host, "one_core");
  const auto all_cores = copy_rate(host, "all_cores");
  if (!one_core || !all_cores) return;
  const auto here = ranks_of_host(host, result);
  const Carriers carriers(of);
  CopiedPairs pairs(*one_core, *all_cores);
  for (std::size_t index = 0; index < of.pairs.size(); ++index) {
    const auto& pair = of.pairs[index];
    const auto src = pair.at("src").get<int>();
    const auto dst = pair.at("dst").get<int>();
    const auto& carrier = carriers.between(src, dst);
    const auto load = load_of(of, pair);
    if (carrier.name != "shm" || !here.contains(src) || !here.contains(dst) || load <= 0) continue;
    pairs.add(index, src, dst, load, copies_by(carrier));
  }
  std::move(pairs).judge(of);
}

}  // namespace ucxbench
