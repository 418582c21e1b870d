#include "harness/analysis/media.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "harness/result/labels.hpp"
#include "harness/result/paths.hpp"
#include "harness/result/words.hpp"
#include "harness/topology/path.hpp"

namespace ucxbench {
namespace {

// A counter counts in KiB and sees other traffic, too: less than the second part of the payload is
// not the payload, and less than the first is nothing of it.
constexpr double noise = 0.05;
constexpr double nearly_all = 0.95;

using RankPair = std::pair<int, int>;

std::vector<RankPair> pairs_of(const Case& of, const LaunchRecord& record) {
  if (is_of_a_pair(of)) return {{record.src, record.dst}};
  std::vector<RankPair> pairs;
  for (int b = 0; b < static_cast<int>(ranks_of(of)); ++b) {
    for (int a = 0; a < b; ++a) pairs.emplace_back(a, b);
  }
  return pairs;
}

Medium medium_of_path(const Judged& run, const Case& of, const RankPair& pair) {
  const auto* a = run.rank(of, pair.first);
  const auto* b = run.rank(of, pair.second);
  if (a == nullptr || b == nullptr || !a->gpu || !b->gpu) return Medium::unknown;
  if (*a->gpu == *b->gpu) return Medium::same_gpu;
  switch (class_between(run.graph, *a->gpu, *b->gpu).distance) {
    case Distance::nvlink:
      return Medium::nvlink;
    case Distance::mnnvl:
      return Medium::mnnvl;
    case Distance::pix:
    case Distance::pxb:
    case Distance::phb:
    case Distance::node:
    case Distance::sys:
      return Medium::pcie;
    case Distance::self:
    case Distance::net:
    case Distance::unknown:
      break;
  }
  return Medium::unknown;
}

SeenMedium medium_of_paths(const Judged& run, const Case& of, const std::vector<RankPair>& pairs) {
  std::set<Medium> media;
  for (const auto& pair : pairs) media.insert(medium_of_path(run, of, pair));
  const auto proof = media == std::set{Medium::same_gpu} ? MediumProof::one_gpu
                     : media.contains(Medium::unknown)   ? MediumProof::none
                                                         : MediumProof::path_class;
  return seen_medium(std::move(media), proof);
}

// By how much NVLink's counters grew, of what cuda_ipc carried; empty where none was read.
std::optional<double> counted_share(const Json& path, double carried) {
  const auto payload = number_at(path, "payload_bytes").value_or(0);
  const auto counters = path.value("bytes_by_counter", Json::object());
  std::optional<double> bytes;
  for (const auto& [counter, moved] : counters.items()) {
    if (!counter.starts_with("nvlink/") || !moved.is_number()) continue;
    bytes = bytes.value_or(0) + moved.get<double>();
  }
  return bytes && payload > 0 ? std::optional(*bytes / (carried * payload)) : std::nullopt;
}

SeenMedium with_counters(const SeenMedium& by_path, double share) {
  const auto has = [&](Medium medium) {
    return by_path.medium == medium || by_path.parts.contains(medium);
  };
  if (share >= nearly_all) {
    return {.medium = has(Medium::mnnvl) ? Medium::mnnvl : Medium::nvlink,
            .proof = MediumProof::counters};
  }
  const bool of_links = by_path.medium == Medium::nvlink || by_path.medium == Medium::mnnvl;
  const bool still = share < noise && (has(Medium::nvlink) || has(Medium::mnnvl));
  if (of_links || still) return {.proof = MediumProof::contradicted, .counted = share};
  return by_path;
}

SeenMedium of_all(const std::vector<SeenMedium>& all) {
  std::set<Medium> media;
  auto proof = MediumProof::counters;
  const auto known_part = [](const SeenMedium& seen) {
    return seen.medium == Medium::unknown ? seen.counted.value_or(0) : 1;
  };
  const auto& least = *std::ranges::min_element(all, {}, known_part);
  if (least.medium == Medium::unknown) return least;
  for (const auto& seen : all) {
    if (seen.parts.empty()) media.insert(seen.medium);
    media.insert(seen.parts.begin(), seen.parts.end());
    proof = std::max(proof, seen.proof);  // the weakest
  }
  return seen_medium(std::move(media), proof);
}

}  // namespace

std::optional<SeenMedium> medium_of(const Judged& run, const Case& of, const LaunchRecord& record) {
  const auto by_ipc = share_over(Fabric::gpu_links, record.path);
  if (by_ipc < 1 - nearly_all_payload) return std::nullopt;
  const auto pairs = pairs_of(of, record);
  if (pairs.size() == 1 && has_label(record.path, Label::same_gpu)) {
    return SeenMedium{.medium = Medium::same_gpu, .proof = MediumProof::one_gpu};
  }
  const auto by_path = medium_of_paths(run, of, pairs);
  if (by_path.medium == Medium::same_gpu) return by_path;
  const auto share = counted_share(record.path, by_ipc);
  return share ? with_counters(by_path, *share) : by_path;
}

void add_media(Result& result) {
  const Judged run(result);
  for (auto& of : result.cases) {
    std::vector<SeenMedium> all;
    std::map<RankPair, std::vector<SeenMedium>> by_pair;
    for (const auto& record : of.launches) {
      const auto seen = medium_of(run, of, record);
      if (!seen) continue;
      all.push_back(*seen);
      by_pair[{record.src, record.dst}].push_back(*seen);
    }
    if (all.empty()) continue;
    put_medium(of_all(all), of.path);
    for (auto& pair : of.pairs) {
      const auto found = by_pair.find({pair.at("src").get<int>(), pair.at("dst").get<int>()});
      if (found == by_pair.end() || !is_of_a_pair(of)) continue;
      put_medium(of_all(found->second), pair);
    }
  }
}

}  // namespace ucxbench
