#include "harness/analysis/sweep/sweep.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "harness/analysis/sweep/outliers.hpp"
#include "harness/core/statistics.hpp"
#include "harness/result/cases.hpp"
#include "harness/result/words.hpp"
#include "harness/topology/path.hpp"

namespace ucxbench {
namespace {

constexpr std::size_t least_hosts = 3;
constexpr double quartiles_apart = 1.349;  ///< of a normal distribution of deviation 1

/// A pair on two hosts.
struct Way {
  std::size_t from_rank = 0, to_rank = 0;  ///< places in Places::ranks
  std::size_t from_host = 0, to_host = 0;
  double GBps = 0;
  double share = 0;  ///< of its limit, or of the median
  double upper = 0;  ///< the same of its upper quartile: other programs only make streams slower
};

struct RankOfSweep {
  int rank = 0;
  std::size_t host = 0;
  std::size_t rail = 0;  ///< its number on its host
};

struct PlacesOfSweep {
  std::vector<std::string> hosts;
  std::vector<RankOfSweep> ranks;
  std::map<int, std::size_t> of_rank;
};

PlacesOfSweep places_of(const Result& result, const Case& of) {
  PlacesOfSweep places;
  std::map<std::string, std::size_t> hosts;
  std::map<std::size_t, std::size_t> rails;
  for (const auto& [rank, name] : hosts_of_ranks(result, of)) {
    const auto [host, added] = hosts.emplace(name, places.hosts.size());
    if (added) places.hosts.push_back(name);
    places.of_rank[rank] = places.ranks.size();
    places.ranks.push_back({rank, host->second, rails[host->second]++});
  }
  return places;
}

/// The pairs on two hosts, by their GB/s; their shares are of their limits, or of the median.
struct Ways {
  std::vector<Way> all;
  bool against_limits = true;
  double scatter = 0;  ///< of the logarithms of one pair's streams
};

Ways ways_of(const Case& of, const PlacesOfSweep& places) {
  Ways ways;
  std::vector<double> scatter;
  std::vector<double> rates;
  std::vector<double> limits;
  for (const auto& pair : of.pairs) {
    const auto rate = number_at(pair, "p50_GBps");
    const auto from = places.of_rank.find(pair.at("src").get<int>());
    const auto to = places.of_rank.find(pair.at("dst").get<int>());
    if (!rate || !(*rate > 0) || from == places.of_rank.end() || to == places.of_rank.end())
      continue;
    const auto from_host = places.ranks[from->second].host;
    const auto to_host = places.ranks[to->second].host;
    if (from_host == to_host) continue;
    const auto limit = number_at(pair, "limit_GBps");
    ways.against_limits = ways.against_limits && limit && *limit > 0;
    const auto p25 = number_at(pair, "p25_GBps");
    const auto p75 = number_at(pair, "p75_GBps");
    limits.push_back(limit.value_or(0));
    ways.all.push_back(
        {from->second, to->second, from_host, to_host, *rate, *rate, p75.value_or(*rate)});
    rates.push_back(*rate);
    if (p25 && p75 && *p25 > 0) scatter.push_back(std::log(*p75 / *p25) / quartiles_apart);
  }
  if (!scatter.empty()) ways.scatter = median(std::move(scatter));
  if (ways.all.empty()) return ways;
  const auto middle = median(std::move(rates));
  for (std::size_t at = 0; at < ways.all.size(); ++at) {
    const auto whole = ways.against_limits ? limits[at] : middle;
    ways.all[at].share /= whole;
    ways.all[at].upper /= whole;
  }
  return ways;
}

/// What stands in one cell of a table of ends, and beside one end.
struct Rates {
  std::vector<double> GBps, shares, upper;

  void add(const Way& way) {
    GBps.push_back(way.GBps);
    shares.push_back(way.share);
    upper.push_back(way.upper);
  }
};

/// Ends of one kind, hosts or ranks, each against each.
struct Ends {
  std::vector<Rates> by_end;  ///< sent and received
  std::map<std::pair<std::size_t, std::size_t>, Rates> by_link;
  Outliers found;
};

template <typename From, typename To>
Ends ends_of(const Ways& ways, std::size_t count, From from, To to) {
  Ends ends{.by_end = std::vector<Rates>(count), .by_link = {}, .found = {}};
  for (const auto& way : ways.all) {
    ends.by_end[from(way)].add(way);
    ends.by_end[to(way)].add(way);
    ends.by_link[{from(way), to(way)}].add(way);
  }
  RateTable table(count);
  for (const auto& [link, rates] : ends.by_link) {
    // Of an even number the upper one: one rail of two may be slow.
    auto upper = rates.upper;
    const auto middle = upper.begin() + static_cast<std::ptrdiff_t>(upper.size() / 2);
    std::nth_element(upper.begin(), middle, upper.end());
    table.at(link.first, link.second) = *middle;
  }
  ends.found = find_outliers(table, ways.scatter);
  return ends;
}

Json slow_text(bool sends, bool receives) {
  if (sends && receives) return "sends and receives";
  if (sends) return "sends";
  return receives ? Json("receives") : Json();
}

Json end_json(const std::string& host, const Ends& ends, std::size_t at) {
  const auto& rates = ends.by_end[at];
  const auto& sends = ends.found.sends[at];
  const auto& receives = ends.found.receives[at];
  return {{"host", host},
          {"pairs", rates.GBps.size()},
          {"p50_GBps", median(rates.GBps)},
          {"share", median(rates.shares)},
          {"sends", sends.known ? Json(sends.of_median) : Json()},
          {"receives", receives.known ? Json(receives.of_median) : Json()},
          {"z", std::min(sends.z, receives.z)},
          {"slow", slow_text(sends.slow, receives.slow)}};
}

Json slow_ones_first(Json list) {
  std::stable_sort(list.begin(), list.end(), [](const Json& a, const Json& b) {
    return std::pair(a.at("slow").is_null(), a.at("z").get<double>()) <
           std::pair(b.at("slow").is_null(), b.at("z").get<double>());
  });
  return list;
}

/// The devices of each rank's lanes to other hosts, "mlx5_0:1"; of the first such pair.
std::map<int, std::string> devices_of(const Case& of, const PlacesOfSweep& places) {
  std::map<int, std::string> devices;
  for (const auto& record : of.launches) {
    const auto from = places.of_rank.find(record.src);
    const auto to = places.of_rank.find(record.dst);
    if (from == places.of_rank.end() || to == places.of_rank.end() ||
        places.ranks[from->second].host == places.ranks[to->second].host ||
        devices.contains(record.src)) {
      continue;
    }
    std::set<std::string> names;
    for (const auto& lane : record.lanes) {
      const auto slash = lane.find('/');
      if (slash != std::string::npos) names.insert(lane.substr(slash + 1));
    }
    devices[record.src] = join({names.begin(), names.end()}, "+");
  }
  return devices;
}

Json hosts_json(const Ends& ends, const PlacesOfSweep& places) {
  std::vector<std::size_t> ranks(places.hosts.size());
  for (const auto& rank : places.ranks) ++ranks[rank.host];
  auto list = Json::array();
  for (std::size_t host = 0; host < places.hosts.size(); ++host) {
    if (ends.by_end[host].GBps.empty()) continue;
    auto entry = end_json(places.hosts[host], ends, host);
    entry["ranks"] = ranks[host];
    list.push_back(std::move(entry));
  }
  return slow_ones_first(std::move(list));
}

Json rails_json(const Ends& ends, const Outliers& hosts, const PlacesOfSweep& places,
                const Case& of) {
  const auto devices = devices_of(of, places);
  auto list = Json::array();
  for (std::size_t at = 0; at < places.ranks.size(); ++at) {
    if (ends.by_end[at].GBps.empty()) continue;
    const auto& rank = places.ranks[at];
    auto entry = end_json(places.hosts[rank.host], ends, at);
    entry["slow"] = slow_text(ends.found.sends[at].slow && !hosts.sends[rank.host].slow,
                              ends.found.receives[at].slow && !hosts.receives[rank.host].slow);
    entry["rank"] = rank.rank;
    entry["rail"] = rank.rail;
    const auto known = devices.find(rank.rank);
    entry["devices"] = known == devices.end() ? "" : known->second;
    list.push_back(std::move(entry));
  }
  return slow_ones_first(std::move(list));
}

Json links_json(const Ends& ends, const PlacesOfSweep& places) {
  auto list = Json::array();
  for (const auto& link : ends.found.links) {
    const auto& rates = ends.by_link.at({link.from, link.to});
    list.push_back({{"from", places.hosts[link.from]},
                    {"to", places.hosts[link.to]},
                    {"p50_GBps", median(rates.GBps)},
                    {"share", median(rates.shares)},
                    {"of_expected", link.of_expected},
                    {"z", link.z}});
  }
  return list;
}

}  // namespace

void add_sweep(Case& of, const Result& result) {
  of.sweep = Json::object();
  if (!is_matrix(of) || of.shows.at_once == Concurrent::all) return;
  const auto places = places_of(result, of);
  if (places.hosts.size() < least_hosts) return;
  const auto ways = ways_of(of, places);
  std::set<std::size_t> seen;
  for (const auto& way : ways.all) seen.insert({way.from_host, way.to_host});
  if (seen.size() < least_hosts) return;
  const auto hosts = ends_of(
      ways, places.hosts.size(), [](const Way& way) { return way.from_host; },
      [](const Way& way) { return way.to_host; });
  const auto rails = ends_of(
      ways, places.ranks.size(), [](const Way& way) { return way.from_rank; },
      [](const Way& way) { return way.to_rank; });
  std::set<std::pair<std::size_t, std::size_t>> met;
  for (const auto& way : ways.all) met.insert(std::minmax(way.from_rank, way.to_rank));
  std::size_t between = 0;  // pairs of ranks on two hosts
  for (std::size_t b = 0; b < places.ranks.size(); ++b) {
    for (std::size_t a = 0; a < b; ++a)
      between += places.ranks[a].host != places.ranks[b].host ? 1 : 0;
  }
  of.sweep = {{"measured_pairs", met.size()},
              {"all_pairs", between},
              {"against", ways.against_limits ? "limit" : "median"},
              {"hosts", hosts_json(hosts, places)},
              {"rails", rails_json(rails, hosts.found, places, of)},
              {"links", links_json(hosts, places)}};
}

}  // namespace ucxbench
