#pragma once

// What a run decides about a setting, and why it decides nothing.

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/analysis/best_set.hpp"
#include "harness/analysis/rules/judged.hpp"
#include "harness/core/names.hpp"

namespace ucxbench {

/// What a setting is of.
enum class Lever {
  net_devices,  ///< UCX_NET_DEVICES of a rank
  cpus,         ///< the CPUs of a rank
  transports,   ///< UCX_TLS
  rendezvous,   ///< UCX_RNDV_THRESH
  pool,         ///< a pool of GPU memory
};
inline constexpr Names<Lever, 5> levers = {{{Lever::net_devices, "UCX_NET_DEVICES"},
                                            {Lever::cpus, "CPUs"},
                                            {Lever::transports, "UCX_TLS"},
                                            {Lever::rendezvous, "UCX_RNDV_THRESH"},
                                            {Lever::pool, "pool of GPU memory"}}};

/// Why a setting is not advised, or not for every job.
enum class WhyNot {
  nothing,        ///< it is advised
  labelled,       ///< every case that could tell has a label, as "same-gpu"
  one_host,       ///< all ranks were on one host, which says nothing of a network
  not_varied,     ///< nothing was measured that it could be held against
  no_difference,  ///< what was measured is not surely better than UCX's own choice
  loses,          ///< what gains in one case or pair of ranks loses in another
  in_force,       ///< the run had it already
  unknown,        ///< the run does not say how much memory the GPUs have
};
inline constexpr Names<WhyNot, 8> reasons_why_not = {{{WhyNot::nothing, ""},
                                                      {WhyNot::labelled, "labelled"},
                                                      {WhyNot::one_host, "one-host"},
                                                      {WhyNot::not_varied, "not-varied"},
                                                      {WhyNot::no_difference, "no-difference"},
                                                      {WhyNot::loses, "loses"},
                                                      {WhyNot::in_force, "in-force"},
                                                      {WhyNot::unknown, "unknown"}}};

/// How much faster one case was than another.
struct Gain {
  std::string of, against;           ///< their keys
  double times = 0;                  ///< as fast, by the medians
  std::array<double, 2> interval{};  ///< of `times`: from the nearer to the farther ends of the
                                     ///< medians' 95 % intervals
  std::optional<std::array<int, 2>> pair{};  ///< of one pair of ranks alone: from, to
};

/// About one lever. With a value and WhyNot::one_host it is for a job on this host alone.
struct Decision {
  Lever lever;
  std::string value;  ///< "4096"; empty: none is advised
  WhyNot why_not = WhyNot::nothing;
  std::optional<Gain> gain{};
  std::optional<Gain> loss{};  ///< of WhyNot::loses: where it is faster without
};

/// "UCX_RNDV_THRESH=4096", "a pool of 12 GiB"; empty where none is advised.
std::string setting_of(const Decision& decision);

/// The labels that keep a case from being advice: its own, and of the machine all but "vm". What an
/// injected mistake has disturbed counts as labelled, and so does a set that any of its cases has
/// spoiled (spoiled_sets.hpp), by the reason's name.
std::vector<std::string> labels_against_advice(const Judged& run, const Case& of);

/// Whether a case's figures may lead to advice: it is measured and none of the above.
bool may_advise(const Judged& run, const Case& of);

/// Empty where an interval is missing, or the two overlap.
std::optional<Gain> gain_of(const MeasuredSet& faster, const MeasuredSet& slower);

/// How much faster `other` is than `set`, by the median over pairs or in the worst pair, whichever
/// is more; empty where it is not.
std::optional<Gain> loss_of(const MeasuredSet& set, const MeasuredSet& other);

/// Of UCX_TLS, UCX_NET_DEVICES, UCX_RNDV_THRESH and the pool, those that the run has to do with.
/// `net_devices`: where several hosts were measured, the ranks' NICs follow from the wiring.
std::vector<Decision> decisions_of(const Judged& run);

/// Whether cases that may advise sent messages between hosts.
bool measured_between_hosts(const Judged& run);

/// Likewise, and InfiniBand carried them.
bool measured_infiniband(const Judged& run);

}  // namespace ucxbench
