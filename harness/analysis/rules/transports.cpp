#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "harness/analysis/media.hpp"
#include "harness/analysis/rules/rules.hpp"
#include "harness/analysis/wired_hosts.hpp"
#include "harness/result/media.hpp"
#include "harness/result/paths.hpp"
#include "harness/result/words.hpp"
#include "harness/topology/path.hpp"

namespace ucxbench {
namespace {

/// Below, UCX may have good reasons to stage a GPU's message through the host.
constexpr std::uint64_t long_message = 1U << 20U;
constexpr double unused = 0.05;  ///< of the payload

const auto* const list_transports = "ucx-bench list transports";

/// The NVLinks that a record's messages could have taken: a workload's go between all ranks.
std::vector<std::pair<std::size_t, std::size_t>> pairs_with_nvlink(const Judged& run,
                                                                   const Case& of,
                                                                   const LaunchRecord& record) {
  std::vector<std::pair<std::size_t, std::size_t>> pairs;
  const auto add = [&](const PlacedRank* a, const PlacedRank* b) {
    if (a == nullptr || b == nullptr || !a->gpu || !b->gpu || *a->gpu == *b->gpu) return;
    const auto path_class = class_between(run.graph, *a->gpu, *b->gpu);
    if (path_class.distance == Distance::nvlink) pairs.emplace_back(*a->gpu, *b->gpu);
  };
  if (!is_workload(of)) {
    add(run.rank(of, record.src), run.rank(of, record.dst));
    return pairs;
  }
  for (const auto& a : run.ranks) {
    for (const auto& b : run.ranks) {
      if (a.rank < b.rank && b.rank < ranks_of(of)) add(run.rank(of, a.rank), run.rank(of, b.rank));
    }
  }
  return pairs;
}

/// What cuda_ipc carried of a record, and NVLink's counters did not see; empty where they saw it,
/// and where nobody asked them.
std::optional<SeenMedium> denied_medium(const Judged& run, const Case& of,
                                        const LaunchRecord& record) {
  auto medium = medium_of(run, of, record);
  return medium && medium->proof == MediumProof::contradicted ? medium : std::nullopt;
}

/// Below, they are noise beside what the links themselves exchange.
bool is_unseen(const std::optional<SeenMedium>& denied) {
  return denied && denied->counted.value_or(0) < unused;
}

/// What nvlink-unused has to say about a case, if anything.
struct NvlinkUnused {
  std::set<std::pair<std::size_t, std::size_t>> pairs;
  std::string carried;
  bool lane = false;                   ///< UCX has one
  std::optional<SeenMedium> denied{};  ///< cuda_ipc carried them, NVLink's counters saw nearly none

  explicit NvlinkUnused(const Judged& run, const Case& of) {
    if (!asks_for(of, Fabric::gpu_links) || !at_place(of, "cuda")) return;
    if (!is_workload(of) && bytes_of(of).value_or(0) < long_message) return;
    for (const auto& record : of.launches) {
      const auto by_counters = denied_medium(run, of, record);
      const bool by_ipc = share_over(Fabric::gpu_links, record.path) >= unused;
      if (carried_by(record.path).empty() || (by_ipc && !is_unseen(by_counters))) continue;
      const auto found = pairs_with_nvlink(run, of, record);
      if (found.empty()) continue;
      pairs.insert(found.begin(), found.end());
      if (is_unseen(by_counters)) denied = by_counters;
      carried = carriers_in_words(record.path);
      lane |= std::any_of(record.lanes.begin(), record.lanes.end(),
                          [](const auto& name) { return name.starts_with("cuda_ipc"); });
    }
  }
};

std::vector<Finding> not_as_asked(const Judged& run, const std::string& verdict,
                                  const std::string& words) {
  std::vector<Finding> findings;
  for (const auto& block : run.blocks) {
    std::vector<const Case*> cases;
    for (const auto* of : block.measured) {
      if (text_at(of->path, "/verdict") != verdict) continue;
      if (NvlinkUnused(run, *of).pairs.empty()) cases.push_back(of);
    }
    if (cases.empty()) continue;
    const auto& worst = *cases.back();
    const auto carried = carriers_in_words(worst.path);
    findings.push_back(
        {.subject = block.title,
         .evidence = fmt::format("{} {}: {} carried {} ({} of {} cases)",
                                 text_at(worst.parameters, "/transports"), words,
                                 carried.empty() ? "something else" : carried, sizes_of(cases),
                                 cases.size(), block.measured.size()),
         .next = list_transports});
  }
  return findings;
}

}  // namespace

std::vector<Finding> nvlink_unused(const Judged& run) {
  std::vector<Finding> findings;
  for (const auto& block : run.blocks) {
    std::vector<const Case*> cases;
    std::set<std::pair<std::size_t, std::size_t>> pairs;
    std::optional<NvlinkUnused> last;
    for (const auto* of : block.measured) {
      NvlinkUnused seen(run, *of);
      if (seen.pairs.empty()) continue;
      cases.push_back(of);
      pairs.insert(seen.pairs.begin(), seen.pairs.end());
      last = std::move(seen);
    }
    if (cases.empty()) continue;
    const auto [a, b] = *pairs.begin();
    const bool stream = text_at(cases.front()->parameters, "/api") == "stream";
    const std::string why = stream         ? "UCX never takes streams over cuda_ipc"
                            : last->denied ? denial_in_words(*last->denied)
                            : last->lane   ? "cuda_ipc lane not taken"
                                           : "no cuda_ipc lane";
    findings.push_back(
        {.subject = block.title,
         .evidence = fmt::format(
             "{} {}-{}{} unused, {} carried {}: {}", to_string(class_between(run.graph, a, b)),
             run.graph.nodes[a].name, run.graph.nodes[b].name,
             pairs.size() > 1 ? fmt::format(" ({} such pairs)", pairs.size()) : "", last->carried,
             sizes_of(cases), why),
         .next = stream ? "use --api tag" : list_transports});
  }
  return findings;
}

std::vector<Finding> wrong_transport(const Judged& run) {
  return not_as_asked(run, "other", "was not used");
}

std::vector<Finding> mixed_transport(const Judged& run) {
  auto findings = not_as_asked(run, "partly", "was used only in part");
  for (const auto& block : run.blocks) {
    std::vector<const Case*> cases;
    std::optional<SeenMedium> least;
    for (const auto* of : block.measured) {
      if (!asks_for(*of, Fabric::gpu_links)) continue;
      std::optional<SeenMedium> of_case;
      for (const auto& record : of->launches) {
        const auto denied = denied_medium(run, *of, record);
        if (!denied || is_unseen(denied)) continue;
        if (!of_case || denied->counted < of_case->counted) of_case = denied;
      }
      if (!of_case) continue;
      cases.push_back(of);
      if (!least || of_case->counted < least->counted) least = of_case;
    }
    if (cases.empty()) continue;
    findings.push_back({.subject = block.title,
                        .evidence = fmt::format("cuda_ipc carried {}, {}", sizes_of(cases),
                                                denial_in_words(*least)),
                        .next = list_transports});
  }
  return findings;
}

std::vector<Finding> several_nics(const Judged& run) {
  std::vector<Finding> findings;
  for (const auto& block : run.blocks) {
    std::vector<const Case*> cases;
    std::set<std::string> nics;
    for (const auto* of : block.measured) {
      std::set<std::string> names;
      for (const auto& record : of->launches) {
        const auto used = ib_nics(run, *of, record);
        if (used.size() < 2) continue;
        for (const auto nic : used) names.insert(own_name(run.graph.nodes[nic]));
      }
      if (names.empty()) continue;
      cases.push_back(of);
      nics.insert(names.begin(), names.end());
    }
    if (cases.empty()) continue;
    findings.push_back({.subject = block.title,
                        .evidence = fmt::format("messages of {} are striped over {}",
                                                sizes_of(cases), fmt::join(nics, ", ")),
                        .next = "to use one, give --net-devices " + *nics.begin() +
                                ":1 or --ucx UCX_MAX_RNDV_RAILS=1"});
  }
  return findings;
}

}  // namespace ucxbench
