#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "harness/result/paths.hpp"
#include "harness/result/result.hpp"

namespace ucxbench {

/// What a site expects of one transport set; it has one limit at least.
struct Expectation {
  std::string place{};       ///< "site.toml:3", for what is said about it
  std::string node{};        ///< only of nodes of the class of that name; empty: of all
  std::string transports{};  ///< "tcp,nvlink"
  std::string memory = "host";
  std::string path_class{};             ///< only pairs of GPUs of that class, "NV2"; empty: all
  std::optional<double> min_GBps{};     ///< that every pair reaches alone, large messages
  std::optional<double> max_us{};       ///< one way, small messages
  std::vector<std::string> carriers{};  ///< members by which 99 % of the payload goes
};

/// Worst last.
enum class Fulfilment {
  met,
  cannot_run,    ///< there is no such transport, device or pair here
  inconclusive,  ///< not met, but some launch did, or there was but one; or nobody can tell
  missed,        ///< by every launch of two or more
};
/// "met", "cannot run", "inconclusive", "missed".
std::string_view to_string(Fulfilment fulfilment);

/// One limit of an expectation, against what was measured.
struct CheckedLimit {
  std::string name;  ///< "min_GBps", "max_us" or "path", as in the site's file
  Json expected;     ///< a number, or the members
  Fulfilment fulfilment = Fulfilment::met;
  /// Of the pair that is furthest off: the median of its launches, or the share of its payload.
  std::optional<double> measured{};
  std::optional<int> src{}, dst{};  ///< that pair
  std::string why{};                ///< where nothing was measured, or others carried it
  /// Of a figure, what became of the transports that the limit is for, in the worst of its pairs:
  /// where it is partly or other, the limit is not met.
  std::optional<PathVerdict> path{};
};

/// Why a case's figure is none that a machine gives; nothing of one whose figures count.
using WhyImpossible = std::function<std::string(const Case&)>;

/// What of a run counts for a limit.
struct CheckedRun {
  Json lost_launches = Json::array();    ///< as in Result::run
  std::optional<std::set<int>> ranks{};  ///< pairs of others are not judged; empty: all are
  WhyImpossible impossible{};            ///< by such a figure no limit is decided

  bool judges(int a, int b) const { return !ranks || (ranks->contains(a) && ranks->contains(b)); }
};

/// The limits of `expectation` in the order of CheckedLimit::name. `rates` is a case of p2p that
/// was measured one pair at a time, `latencies` one of pingpong of every pair. A limit is met only
/// where all pairs of ranks were measured, in one direction at least, and no launch of its case was
/// lost. It is missed where one was: ranks did not reach each other. Each case is needed only for
/// its limit (`rates` for the path).
std::vector<CheckedLimit> check_limits(const Expectation& expectation, const Case* rates,
                                       const Case* latencies, const CheckedRun& run = {});

/// What a site that was like these two cases may expect again, one for each class of pairs: of the
/// pair that is furthest off, a fifth less GB/s and half as many us again, to two digits, and the
/// member that carried it all, where one did. Of `like` transports and memory count. Nothing of
/// cases that were not measured.
std::vector<Expectation> expectations_like(const Expectation& like, const Case& rates,
                                           const Case& latencies);
inline constexpr double rate_margin = 0.8;
inline constexpr double time_margin = 1.5;

}  // namespace ucxbench
