#include "harness/analysis/decisions.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "harness/analysis/rules/rules.hpp"
#include "harness/core/failure.hpp"
#include "harness/core/units.hpp"
#include "harness/result/labels.hpp"
#include "harness/result/media.hpp"
#include "harness/result/paths.hpp"
#include "harness/result/transports.hpp"
#include "harness/result/words.hpp"

namespace ucxbench {
namespace {

/// What dask-cuda lets a worker use of its GPU before it spills (device_memory_limit).
constexpr double pool_share = 0.8;
constexpr std::uint64_t GiB = 1ULL << 30U;

using Cases = std::vector<const Case*>;

bool of_ucx(const Case& of) { return of.state == CaseState::measured && by_ucx(of); }

Cases cases_to_advise(const Judged& run) {
  Cases cases;
  for (const auto& of : run.result.cases) {
    if (of_ucx(of) && !is_canary(of) && may_advise(run, of)) cases.push_back(&of);
  }
  return cases;
}

/// Which pairs of ranks a case's messages went between.
struct Reach {
  bool within = false, between = false;  ///< hosts
};

Reach reach_of(const Judged& run, const Case& of) {
  Reach reach;
  const auto hosts = hosts_of_ranks(run.result, of);
  const auto add = [&](int src, int dst) {
    const auto from = hosts.find(src);
    const auto to = hosts.find(dst);
    if (from == hosts.end() || to == hosts.end() || src == dst) return;
    (from->second == to->second ? reach.within : reach.between) = true;
  };
  for (const auto& pair : of.pairs) {
    const auto src = number_at(pair, "src");
    const auto dst = number_at(pair, "dst");
    if (src && dst) add(static_cast<int>(*src), static_cast<int>(*dst));
  }
  for (const auto& record : of.launches) add(record.src, record.dst);
  return reach;
}

/// UCX_TLS for a set between hosts, as a launch sets it. A rank reaches itself by `self`.
std::string tls_of(const Case& of) {
  const auto set = texts_of(of.parameters.value("transports", Json::array()));
  const auto kinds = texts_of(of.parameters.value("memory", Json::array()));
  const bool gpu_memory = std::ranges::any_of(kinds, [](const auto& kind) {
    const auto place = place_of_memory(kind);
    return place == "cuda" || place == "managed";
  });
  std::vector<std::string> tls = {"self"};
  for (const auto& value : ucx_tls(set, gpu_memory, false)) tls.push_back(value.name);
  return join(tls, ",");
}

bool of_all_pairs(const Judged& run, const Case& of) {
  const auto reach = reach_of(run, of);
  return reach.within && reach.between;
}

/// The larger one.
void keep_larger(std::optional<Gain>& known, const std::optional<Gain>& gain) {
  if (gain && (!known || gain->times > known->times)) known = gain;
}

/// What is fast between hosts may be slow inside one: a case of both kinds of pairs decides, and
/// any case or pair may object.
Decision transports_of(const Judged& run, const Cases& cases) {
  Decision none{.lever = Lever::transports, .value = {}, .why_not = WhyNot::not_varied};
  if (!measured_between_hosts(run)) {
    none.why_not = WhyNot::one_host;
    return none;
  }
  struct Standing {
    const Case* of = nullptr;
    std::optional<Gain> gain, loss;
    bool beaten = false;  ///< by another set that gains, too
  };
  std::map<std::string, Standing> standings;
  for (const auto& [key, group] : alike_but_for_transports(cases)) {
    const bool decides = of_all_pairs(run, *group.front());
    for (const auto& metric : group.front()->shows.metrics) {
      if (!metric.judged) continue;
      const auto sets = measured_sets(group, metric.name);
      const auto own = std::ranges::find(sets, "auto", &MeasuredSet::name);
      if (sets.size() < 2 || own == sets.end()) continue;
      if (decides) none.why_not = WhyNot::no_difference;
      const auto& best = best_set(sets);
      for (const auto& set : sets) {
        auto& standing = standings[set.name];
        keep_larger(standing.loss, loss_of(set, *own));
        if (!decides) continue;
        standing.of = set.of;
        standing.beaten |= best.of != own->of && told_apart(set, best);
        keep_larger(standing.gain, gain_of(set, *own));
      }
    }
  }
  const Standing* best = nullptr;
  const auto is_better = [&](const Standing& of) {
    if (best == nullptr || of.loss.has_value() != best->loss.has_value()) {
      return best == nullptr || !of.loss;
    }
    return of.gain->times > best->gain->times;
  };
  for (const auto& [name, standing] : standings) {
    if (!standing.beaten && standing.gain && is_better(standing)) best = &standing;
  }
  if (best == nullptr) return none;
  if (!best->loss) {
    return {.lever = Lever::transports, .value = tls_of(*best->of), .gain = best->gain};
  }
  none.why_not = WhyNot::loses;
  none.gain = best->gain;
  none.loss = best->loss;
  return none;
}

/// The first host's ranks had this setting, a size, in the case: asked for its transport set, or
/// for all.
bool had_size(const Judged& run, const Case& of, const std::string& name, std::uint64_t bytes) {
  const Json::json_pointer place("/environment/asked");
  if (!run.result.ucx.contains(place)) return false;
  const auto& asked = run.result.ucx.at(place);
  const auto of_set = asked.find(text_at(of.parameters, "/transports"));
  const bool of_set_alone = of_set != asked.end() && of_set->is_object() && of_set->contains(name);
  const auto text = text_at(of_set_alone ? *of_set : asked, "/" + name, "");
  try {
    return !text.empty() && parse_size(text) == bytes;
  } catch (const Failure&) {
    return false;  // "auto", "inf"
  }
}

std::optional<Decision> rendezvous_of(const Judged& run) {
  const auto late = late_rendezvous(run);
  if (late.empty()) return std::nullopt;
  Decision decision{.lever = Lever::rendezvous, .value = {}, .why_not = WhyNot::labelled};
  double cost_us = 0;
  bool in_force = false;
  for (const auto& of : late) {
    if (!may_advise(run, *of.worst) || !may_advise(run, *of.first)) continue;
    if (decision.value.empty()) decision.why_not = WhyNot::no_difference;
    const auto pair = std::vector<const Case*>{of.first, of.worst};
    const auto sets = measured_sets(pair, "latency_us");
    const auto gain = gain_of(sets.front(), sets.back());
    if (!gain || of.cost_us <= cost_us) continue;
    cost_us = of.cost_us;
    decision.value = std::to_string(of.from_bytes);
    decision.gain = gain;
    in_force = had_size(run, *of.worst, "UCX_RNDV_THRESH", of.from_bytes);
  }
  if (decision.value.empty()) return decision;
  decision.why_not = measured_between_hosts(run) ? WhyNot::nothing : WhyNot::one_host;
  if (in_force) {
    decision.value.clear();
    decision.why_not = WhyNot::in_force;
  }
  return decision;
}

/// In whole GiB, what the ranks that share a GPU may each have of it; the least of all GPUs that
/// ranks had.
std::string pool_for_each(const Judged& run) {
  std::map<std::string, double> ranks;
  std::map<std::string, double> memory;
  for (const auto& record : run.result.ranks) {
    const auto device = record.find("device");
    if (device == record.end() || !device->is_object()) continue;
    const auto id = text_at(
        *device, "/uuid",
        text_at(record, "/host") + " " + text_at(*device, "/pci", text_at(*device, "/index")));
    ++ranks[id];
    const auto bytes = number_at(*device, "memory_bytes");
    if (!bytes || *bytes <= 0) return "";
    memory[id] = *bytes;
  }
  std::optional<double> least;
  for (const auto& [id, bytes] : memory) {
    const auto each = pool_share * bytes / ranks[id];
    if (!least || each < *least) least = each;
  }
  const auto whole = static_cast<std::uint64_t>(least.value_or(0)) / GiB * GiB;
  return whole == 0 ? "" : spaced_size(whole);
}

std::optional<Decision> pool_of(const Judged& run, const Cases& cases) {
  const auto on_gpu = [](const Case& of) { return at_place(of, "cuda"); };
  const auto& all = run.result.cases;
  if (std::ranges::none_of(all, [&](const Case& of) { return of_ucx(of) && on_gpu(of); })) {
    return std::nullopt;
  }
  Decision decision{.lever = Lever::pool, .value = {}, .why_not = WhyNot::labelled};
  std::map<std::string, std::map<bool, const Case*>> by_pool;  // of cases that are else alike
  for (const auto* of : cases) {
    if (!on_gpu(*of)) continue;
    auto alike = of->parameters;
    alike.erase("no_pool");
    alike.erase("pool_bytes");
    const bool pool = !is_set(of->parameters, "no_pool");
    by_pool[of->benchmark + alike.dump()][pool] = of;
    if (decision.why_not == WhyNot::labelled) decision.why_not = WhyNot::not_varied;
    if (pool) decision.why_not = WhyNot::in_force;
  }
  bool compared = false;
  for (const auto& [key, pair] : by_pool) {
    if (pair.size() < 2) continue;
    compared = true;
    for (const auto& metric : pair.at(true)->shows.metrics) {
      if (!metric.judged) continue;
      const auto sets = measured_sets(Cases{pair.at(true), pair.at(false)}, metric.name);
      if (sets.size() < 2) continue;
      keep_larger(decision.gain, gain_of(sets.front(), sets.back()));
      keep_larger(decision.loss, loss_of(sets.front(), sets.back()));
    }
  }
  if (!compared) return decision;
  if (!decision.gain) {
    decision.why_not = WhyNot::no_difference;
    return decision;
  }
  if (decision.loss) {
    decision.why_not = WhyNot::loses;
    return decision;
  }
  decision.value = pool_for_each(run);
  decision.why_not = decision.value.empty() ? WhyNot::unknown : WhyNot::nothing;
  return decision;
}

}  // namespace

std::string setting_of(const Decision& decision) {
  if (decision.value.empty()) return "";
  if (decision.lever == Lever::pool) return "a pool of " + decision.value;
  return std::string(name_of(levers, decision.lever)) + "=" + decision.value;
}

std::vector<std::string> labels_against_advice(const Judged& run, const Case& of) {
  auto labels = labels_of(run.result, of);
  std::erase(labels, "vm");
  if (!text_at(of.parameters, "/inject", "").empty()) add_once(labels, "injected");
  const auto spoiled = std::ranges::find(run.spoiled, set_of(of), &SpoiledSet::set);
  if (spoiled != run.spoiled.end()) {
    add_once(labels, std::string(spoiled->reason()));
  }
  return labels;
}

bool may_advise(const Judged& run, const Case& of) {
  return of.state == CaseState::measured && labels_against_advice(run, of).empty();
}

std::optional<Gain> gain_of(const MeasuredSet& faster, const MeasuredSet& slower) {
  if (!told_apart(slower, faster)) return std::nullopt;
  const auto [least, most] = *loss_interval(slower, faster);
  return Gain{faster.of->key, slower.of->key, 1 + loss(slower, faster), {1 + least, 1 + most}};
}

std::optional<Gain> loss_of(const MeasuredSet& set, const MeasuredSet& other) {
  auto worst = gain_of(other, set);
  if (const auto pair = worst_pair(set, other)) {
    keep_larger(worst, Gain{.of = other.of->key,
                            .against = set.of->key,
                            .times = pair->times,
                            .interval = pair->interval,
                            .pair = std::array{pair->src, pair->dst}});
  }
  return worst;
}

bool measured_between_hosts(const Judged& run) {
  return std::ranges::any_of(cases_to_advise(run),
                             [&](const Case* of) { return reach_of(run, *of).between; });
}

bool measured_infiniband(const Judged& run) {
  return std::ranges::any_of(cases_to_advise(run), [&](const Case* of) {
    if (!reach_of(run, *of).between) return false;
    return std::ranges::any_of(of->launches, [](const LaunchRecord& record) {
      return share_over(Fabric::rdma, record.path) > 0;
    });
  });
}

std::vector<Decision> decisions_of(const Judged& run) {
  const auto cases = cases_to_advise(run);
  std::vector<Decision> decisions;
  if (std::ranges::none_of(run.result.cases, of_ucx)) return decisions;
  if (cases.empty()) {
    for (const auto lever : {Lever::transports, Lever::net_devices, Lever::cpus}) {
      decisions.push_back({.lever = lever, .value = {}, .why_not = WhyNot::labelled});
    }
  } else {
    decisions.push_back(transports_of(run, cases));
    if (!measured_between_hosts(run)) {
      decisions.push_back({.lever = Lever::net_devices, .value = {}, .why_not = WhyNot::one_host});
    }
  }
  for (auto decision : {rendezvous_of(run), pool_of(run, cases)}) {
    if (decision) decisions.push_back(std::move(*decision));
  }
  return decisions;
}

}  // namespace ucxbench
