// What advice does not say, how to measure it, and what its settings gained.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "harness/report/advice.hpp"
#include "harness/report/text.hpp"

namespace ucxbench {
namespace {

std::string in_words(const Decision& decision, const Advice& advice) {
  switch (decision.why_not) {
    case WhyNot::loses:
      return fmt::format("what gains in one case loses in another: {}; {}",
                         in_words(decision.gain.value()), in_words(decision.loss.value()));
    case WhyNot::labelled:
      return fmt::format("every case that could tell is labelled {}",
                         fmt::join(advice.labels, ", "));
    case WhyNot::one_host:
      return "one host was measured, which says nothing of a network";
    case WhyNot::not_varied:
      return "nothing was measured that it could be held against";
    case WhyNot::no_difference:
      return "no other choice was surely faster";
    case WhyNot::in_force:
      return "the run had it, and nothing was measured without";
    case WhyNot::unknown:
      return "the memory of the GPUs is not known";
    case WhyNot::nothing:
      break;
  }
  return "";
}

}  // namespace

std::string in_words(const Gain& gain) {
  const auto pair = gain.pair
                        ? fmt::format(", from rank {} to rank {}", (*gain.pair)[0], (*gain.pair)[1])
                        : std::string();
  return fmt::format("{:.2f} x as fast ({:.2f}..{:.2f}): {} against {}{}", gain.times,
                     gain.interval[0], gain.interval[1], on_one_line(gain.of),
                     on_one_line(gain.against), pair);
}

std::string in_words(const ClassBandwidth& of) {
  const auto* const where = of.between_hosts ? "between hosts" : "within a host";
  return fmt::format("{}{}{}", where, of.memory.empty() ? "" : ", " + of.memory + " memory",
                     of.path_class.empty() ? "" : ", class " + of.path_class);
}

std::string measured_with(const Advice& advice, Lever lever) {
  const auto hosts = std::max<std::size_t>(advice.hosts, 2);
  const auto ranks = std::max<std::size_t>(advice.ranks.size(), 2);
  const auto between_hosts =
      fmt::format("ucx-bench p2p -n {} --listen ADDRESS:PORT --hosts {} ", ranks * hosts, hosts);
  switch (lever) {
    case Lever::transports:
      return between_hosts + "--transports auto --transports shm+tcp --launches 9";
    case Lever::net_devices:
      return between_hosts + "--net-devices all, then nearest";
    case Lever::rendezvous:
      return fmt::format("ucx-bench pingpong --listen ADDRESS:PORT --transports auto --launches 9");
    case Lever::cpus:
      return fmt::format("ucx-bench p2p -n {} --bind none, then --bind auto", ranks);
    case Lever::pool:
      return fmt::format("ucx-bench merge -n {} --memory cuda, then with --no-pool", ranks);
  }
  return "";
}

std::vector<std::string> remarks_on(const Advice& advice) {
  std::vector<std::string> remarks;
  const auto placed = [](const AdvisedRank& rank) { return !rank.cpus.empty() || rank.nic; };
  if (std::ranges::any_of(advice.ranks, placed)) {
    const bool nics = advice.names_nics();
    remarks.push_back(
        fmt::format("CPUs{} follow from the wiring, their gain is not known; measure it: {}",
                    nics ? " and UCX_NET_DEVICES" : "",
                    measured_with(advice, nics ? Lever::net_devices : Lever::cpus)));
  }
  for (const auto& of : advice.spoiled) {
    remarks.push_back(fmt::format("no advice from set {}, {}: {}: {}", on_one_line(of.set),
                                  of.reason(), on_one_line(of.key), on_one_line(of.evidence)));
  }
  std::vector<std::pair<std::string, std::string>> groups;  // names, by the rest of the sentence
  for (const auto& decision : advice.decisions) {
    if (decision.why_not == WhyNot::nothing) continue;
    const auto name = std::string(name_of(levers, decision.lever));
    auto rest = in_words(decision, advice);
    rest +=
        decision.why_not == WhyNot::labelled
            ? "; measure where none is"
            : "; measure it: " + measured_with(advice, decision.why_not == WhyNot::one_host &&
                                                               decision.lever == Lever::net_devices
                                                           ? Lever::transports
                                                           : decision.lever);
    const auto same = std::ranges::find(groups, rest, &decltype(groups)::value_type::second);
    const auto here = decision.value.empty() ? name : name + " of other jobs";
    if (same == groups.end()) {
      groups.emplace_back(here, std::move(rest));
    } else {
      same->first += ", " + here;
    }
  }
  for (const auto& [names, rest] : groups) {
    remarks.push_back(fmt::format("no advice on {}: {}", names, on_one_line(rest)));
  }
  if (advice.all_ranks > advice.ranks.size() && advice.hosts > 1) {
    remarks.push_back(fmt::format("{} of other hosts: run ucx-bench advise there",
                                  counted(advice.all_ranks - advice.ranks.size(), "rank")));
  }
  return remarks;
}

std::vector<std::string> said_beside(const Advice& advice) {
  auto texts = remarks_on(advice);
  for (const auto& decision : advice.decisions) {
    if (decision.value.empty()) continue;
    const bool here = decision.why_not == WhyNot::one_host;
    texts.push_back(setting_of(decision) + (here ? ", in a job on this host alone" : "") +
                    (decision.gain ? ": " + in_words(*decision.gain) : ""));
  }
  return texts;
}

}  // namespace ucxbench
