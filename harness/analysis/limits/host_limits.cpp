#include "harness/analysis/limits/host_limits.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "harness/analysis/limits/calibration.hpp"
#include "harness/analysis/limits/carriers.hpp"
#include "harness/analysis/limits/limits.hpp"
#include "harness/core/or_null.hpp"
#include "harness/core/units.hpp"
#include "harness/result/cases.hpp"
#include "harness/result/transports.hpp"
#include "harness/result/words.hpp"

namespace ucxbench {
namespace {

/// What memcpy reached on some cores.
struct CopyRate {
  double GBps = 0;
  std::string source;
};

/// The same with buffers of one size.
struct SizeRate {
  double bytes = 0, GBps = 0;
};

/// Of all sizes that were measured.
std::vector<SizeRate> known_sizes(const Json& measured) {
  constexpr double largest = 1e15;
  std::vector<SizeRate> sizes;
  const auto add = [&sizes](const Json& of) {
    const auto bytes = number_at(of, "bytes").value_or(0);
    const auto GBps = number_at(of, "copy_GBps").value_or(0);
    if (GBps > 0 && bytes >= 1 && bytes <= largest) sizes.push_back({bytes, GBps});
  };
  add(measured);
  const auto smaller = measured.find("by_size");
  if (smaller == measured.end() || !smaller->is_array()) return sizes;
  for (const auto& of : *smaller) add(of);
  return sizes;
}

/// Of all sizes, first that of buffers that leave caches; none without it.
std::vector<SizeRate> rates_of_sizes(const Json& measured) {
  return number_at(measured, "copy_GBps").value_or(0) > 0 ? known_sizes(measured)
                                                          : std::vector<SizeRate>();
}

/// Of the largest buffers with at most `most` bytes, or else the smallest. What larger ones reached
/// counts, too, where it is more: smaller ones cannot be slower.
SizeRate rate_at(double most, const std::vector<SizeRate>& sizes) {
  auto least = std::ranges::min(sizes, {}, &SizeRate::bytes).bytes;
  for (const auto& size : sizes) {
    if (size.bytes <= most) least = std::max(least, size.bytes);
  }
  auto best = sizes.front();
  for (const auto& size : sizes) {
    if (size.bytes >= least && size.GBps > best.GBps) best = size;
  }
  return best;
}

/// For messages of so many bytes. No smaller data are on their way than memcpy had: a core that
/// copies a message touches it on one side at least, all cores on both sides. So memcpy's two
/// buffers are together no larger than the message, those of more than two cores than both sides.
std::optional<CopyRate> copy_rate(const Json& host, const char* cores, double message) {
  const auto measured = host.value("memory_copy", Json::object()).value(cores, Json::object());
  const auto sizes = rates_of_sizes(measured);
  if (sizes.empty()) return std::nullopt;
  const auto cpus = texts_of(measured.value("cpus", Json()));
  const auto rate =
      rate_at(message / static_cast<double>(std::max<std::size_t>(cpus.size(), 2)), sizes);
  auto source = fmt::format("memcpy of {} GB/s on CPU{} {}", significant(rate.GBps, 3),
                            cpus.size() == 1 ? "" : "s", join(cpus, ", "));
  if (rate.bytes < sizes.front().bytes) {
    source +=
        fmt::format(", {} again and again", spaced_size(static_cast<std::uint64_t>(rate.bytes)));
  }
  return CopyRate{rate.GBps, source};
}

/// GB/s at which one of two CPUs copied what the other had written, for messages of so many bytes.
std::optional<CopyRate> rate_between(const Json& host, const std::string& writer,
                                     const std::string& reader, double message) {
  for (const auto& pair :
       host.value("memory_copy", Json::object()).value("between_cores", Json::array())) {
    const auto cpus = texts_of(pair.value("cpus", Json()));
    const bool these = cpus.size() == 2 && ((cpus[0] == writer && cpus[1] == reader) ||
                                            (cpus[0] == reader && cpus[1] == writer));
    if (!these) continue;
    auto sizes = known_sizes(pair);
    if (sizes.empty()) return std::nullopt;
    std::ranges::sort(sizes, std::ranges::greater(), &SizeRate::bytes);
    const auto rate = rate_at(message / 2, sizes);
    return CopyRate{rate.GBps, fmt::format("memcpy of {} GB/s between CPUs {} and {}, {}",
                                           significant(rate.GBps, 3), writer, reader,
                                           spaced_size(static_cast<std::uint64_t>(rate.bytes)))};
  }
  return std::nullopt;
}

/// The one CPU that a rank runs on; empty where it may run on others.
std::string cpu_of(const std::vector<Json>& ranks, int rank) {
  const auto at = static_cast<std::size_t>(rank);
  if (at >= ranks.size()) return "";
  const auto cpus = texts_of(ranks[at].value("cpus", Json()));
  const bool one = cpus.size() == 1 && cpus[0].find_first_not_of("0123456789") == std::string::npos;
  return one ? cpus[0] : "";
}

/// Of messages that leave and reach the same two buffers again and again, which caches may hold;
/// infinity of others.
double bytes_in_caches(const Case& of) {
  const bool warm = text_at(of.parameters, "/buffers", "warm") == "warm";
  const auto bytes = is_exchange(of) || !warm ? std::nullopt : bytes_of(of);
  return bytes ? static_cast<double>(*bytes) : std::numeric_limits<double>::infinity();
}

/// How often a byte is copied on its way: so often, or at least.
struct Copies {
  int count = 1;
  bool exact = false;
};

Copies copies_by(const Carrier& carrier, const Case& of) {
  // By the sender's core into the kernel and by the receiver's out of it. UCX and MPI may copy once
  // more, between the message and what they give to the kernel.
  if (fabric_of(carrier.name) == Fabric::sockets) {
    return {.count = 2, .exact = of.parameters.value("comm", Json()) == "sockets"};
  }
  const auto single = [](const std::string& lane) {
    return lane.starts_with("cma/") || lane.starts_with("knem/");
  };
  const auto twice = [](const std::string& lane) {
    return lane.starts_with("posix/") || lane.starts_with("sysv/") ||
           lane.starts_with("unix/");  // into the kernel and out of it
  };
  const auto& lanes = carrier.used.empty() ? carrier.lanes : carrier.used;
  if (!lanes.empty() && std::ranges::all_of(lanes, twice)) return {.count = 2, .exact = true};
  if (!lanes.empty() && std::ranges::all_of(lanes, single)) return {.count = 1, .exact = true};
  // Segments cannot be read for a message that lies elsewhere.
  if (carrier.used.empty() && carrier.read && std::ranges::any_of(lanes, single)) {
    return {.count = 1, .exact = true};
  }
  return {};
}

/// Pairs of a replay are held against their paths one by one.
bool is_replayed(const Json& pair) { return pair.contains("p50_bytes"); }

/// The pairs of a case that the cores copy for, and what they load.
class CopiedPairs {
 public:
  CopiedPairs(const std::vector<Json>& ranks, int threads, double message)
      : ranks_(ranks), threads_(threads), message_(message) {}

  /// False of a host whose copies were not measured. `on_host`: " on node1" where it is not the
  /// only one.
  bool begin_host(const Json& host, const std::string& on_host) {
    const auto all_cores = copy_rate(host, "all_cores", message_);
    one_core_ = copy_rate(host, "one_core", message_);
    if (!one_core_ || !all_cores) return false;
    host_ = &host;
    on_host_ = on_host;
    memory_ = resources_.size();
    resources_.push_back({.name = "host memory" + on_host,
                          .GBps = 2 * all_cores->GBps,
                          .source = all_cores->source,
                          .calibrated = true});
    return true;
  }

  /// A pair of the host that was begun last. Nothing is said of a message that caches may hold
  /// where no copy between the cores of its two ranks was measured: no core of its own shows how
  /// fast they hand data over.
  void add(const Json& pair, std::size_t index, const Carrier& carrier, double bytes,
           const Copies& copies) {
    FlowLimit limit;
    if (may_stay_in_caches(*host_, message_)) {
      const auto src = pair.at("src").get<int>();
      const auto dst = pair.at("dst").get<int>();
      auto between = rate_between(*host_, cpu_of(ranks_, src), cpu_of(ranks_, dst), message_);
      if (!between) return;
      limit.uses.emplace_back(resources_.size(), 1);
      resources_.push_back({.name = fmt::format("cores of ranks {} and {}{}", src, dst, on_host_),
                            .GBps = threads_ * between->GBps,
                            .source = std::move(between->source),
                            .calibrated = true});
    }
    limit.uses.emplace_back(memory_, 2 * copies.count);
    limit.uses.emplace_back(core_of(pair.at("dst").get<int>()), 1);
    if (copies.count == 2) limit.uses.emplace_back(core_of(pair.at("src").get<int>()), 1);
    uses_.push_back(std::move(limit));
    flows_.push_back({.bytes = bytes});
    found_.push_back({.pair = index,
                      .complete = copies.exact,
                      .path = carrier.name,
                      .detail = copies.count != 2 ? ""
                                : copies.exact    ? ", copied twice"
                                                  : ", copied twice or more"});
  }

  void judge(Case& of) && {
    const auto limits = limits_over(std::move(resources_), std::move(uses_), flows_);
    if (is_exchange(of)) {
      for (std::size_t i = 0; i < found_.size(); ++i) {
        auto& pair = of.pairs[found_[i].pair];
        if (is_replayed(pair)) pair["calibrated_GBps"] = *limits.flows[i].alone_GBps;
      }
      return add_calibrated_exchange(of, flows_, limits);
    }
    std::vector<std::optional<double>> shares(flows_.size());
    // What other pairs take than the known ones, nobody can tell.
    if (all_at_once(of) && flows_.size() == of.pairs.size()) shares = fair_shares(flows_, limits);
    for (std::size_t i = 0; i < found_.size(); ++i) {
      const auto& by = limits.resources[*limits.flows[i].alone_by];
      found_[i].GBps = *limits.flows[i].alone_GBps;
      found_[i].share_GBps = shares[i];
      found_[i].pair_class = "memory";
      found_[i].resource = by.name;
      found_[i].detail = by.source + found_[i].detail;
    }
    add_calibrated(of, found_);
  }

 private:
  std::size_t core_of(int rank) {
    const auto [found, added] = cores_.emplace(rank, resources_.size());
    if (added) {
      resources_.push_back({.name = fmt::format("host memory{}, by the core{} of rank {}", on_host_,
                                                threads_ == 1 ? "" : "s", rank),
                            .GBps = threads_ * one_core_->GBps,
                            .source = one_core_->source,
                            .calibrated = true});
    }
    return found->second;
  }

  const std::vector<Json>& ranks_;
  const Json* host_ = nullptr;
  int threads_;     ///< of each rank, that copy at the same time
  double message_;  ///< bytes_in_caches()
  std::optional<CopyRate> one_core_;
  std::string on_host_;
  std::size_t memory_ = 0;
  std::map<int, std::size_t> cores_;
  std::vector<SharedResource> resources_;
  std::vector<FlowLimit> uses_;
  std::vector<Flow> flows_;
  std::vector<CalibratedLimit> found_;
};

/// What carried it, and between which NUMA nodes.
void name_way(Json& pair, const Carriers& carriers, const std::vector<Json>& ranks) {
  const auto node = [&](const char* end) {
    const auto rank = pair.at(end).get<std::size_t>();
    return rank < ranks.size() ? number_at(ranks[rank], "numa_node") : std::nullopt;
  };
  const auto from = node("src");
  const auto to = node("dst");
  pair["class"] = "memory";
  pair["path"] = text_or_null(carriers.between(0, 1).name);
  if (from && to) pair["numa"] = fmt::format("{:.0f}->{:.0f}", *from, *to);
}

/// By the name of their host, places in Case::pairs.
std::map<std::string, std::vector<std::size_t>> pairs_within_hosts(
    const Case& of, const std::map<int, std::string>& hosts) {
  std::map<std::string, std::vector<std::size_t>> within;
  for (std::size_t index = 0; index < of.pairs.size(); ++index) {
    const auto src = hosts.find(of.pairs[index].at("src").get<int>());
    const auto dst = hosts.find(of.pairs[index].at("dst").get<int>());
    if (src == hosts.end() || dst == hosts.end() || src->second != dst->second) continue;
    within[src->second].push_back(index);
  }
  return within;
}

}  // namespace

void add_host_limits(Case& of, const Result& result) {
  const auto hosts = result.machine.value("hosts", Json::array());
  if (!of_memory(of, "host") || !hosts.is_array()) return;
  const Carriers carriers(of);
  const auto within = pairs_within_hosts(of, hosts_of_ranks(result, of));
  const auto ranks = ranks_of_case(result, of);
  CopiedPairs pairs(ranks, threads_in(of.parameters), bytes_in_caches(of));
  for (const auto& host : hosts) {
    const auto name = text_at(host, "/name", "");
    const auto own = within.find(name);
    if (own == within.end()) continue;
    for (const auto index : own->second) {
      if (is_replayed(of.pairs[index])) name_way(of.pairs[index], carriers, ranks);
    }
    if (!pairs.begin_host(host, hosts.size() == 1 ? "" : " on " + name)) continue;
    for (const auto index : own->second) {
      const auto& pair = of.pairs[index];
      const auto& carrier = carriers.between(pair.at("src").get<int>(), pair.at("dst").get<int>());
      const auto load = load_of(of, pair);
      const auto fabric = fabric_of(carrier.name);
      const bool by_host = fabric == Fabric::shared_memory || fabric == Fabric::sockets;
      if (!by_host || load <= 0) continue;
      pairs.add(pair, index, carrier, load, copies_by(carrier, of));
    }
  }
  std::move(pairs).judge(of);
}

}  // namespace ucxbench
