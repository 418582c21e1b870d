#include "harness/result/media.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "harness/result/paths.hpp"
#include "harness/result/words.hpp"

namespace ucxbench {
namespace {

constexpr Names<Unmet, 8> unmet_names = {{{Unmet::met, "met"},
                                          {Unmet::not_known, "not-known"},
                                          {Unmet::too_little, "too-little"},
                                          {Unmet::eliminated, "eliminated"},
                                          {Unmet::inside_one_gpu, "inside-one-gpu"},
                                          {Unmet::over_pcie, "over-pcie"},
                                          {Unmet::counters_deny, "counters-deny"},
                                          {Unmet::medium_unknown, "medium-unknown"}}};

// Less than this part of a payload is that of control messages.
constexpr double counts = 1 - nearly_all_payload;

bool has(const std::vector<std::string>& members, const std::string& member) {
  return std::ranges::find(members, member) != members.end();
}

Unmet unmet_by_medium(const SeenMedium& seen, bool same_gpu) {
  switch (seen.medium) {
    case Medium::nvlink:
    case Medium::mnnvl:
      return Unmet::met;
    case Medium::same_gpu:
      return same_gpu ? Unmet::met : Unmet::inside_one_gpu;
    case Medium::pcie:
      return Unmet::over_pcie;
    case Medium::mixed:
      for (const auto part : seen.parts) {
        const auto unmet = unmet_by_medium({.medium = part, .proof = seen.proof}, same_gpu);
        if (unmet != Unmet::met) return unmet;
      }
      return Unmet::met;
    case Medium::unknown:
      break;
  }
  return seen.proof == MediumProof::contradicted ? Unmet::counters_deny : Unmet::medium_unknown;
}

std::string in_words(const SeenMedium& seen) {
  switch (seen.medium) {
    case Medium::nvlink:
      return " over NVLink";
    case Medium::mnnvl:
      return " over NVLink between hosts";
    case Medium::pcie:
      return " over PCIe";
    case Medium::same_gpu:
      return " inside one GPU";
    case Medium::mixed:
      return " over several media";
    case Medium::unknown:
      break;
  }
  return seen.proof == MediumProof::contradicted
             ? fmt::format(" (medium unknown: {})", denial_in_words(seen))
             : " (medium unknown)";
}

/// What a member of a set is carried by, and over what.
std::string in_words(const std::string& member, const std::optional<SeenMedium>& medium) {
  const bool has_media = fabric_of(member) == Fabric::gpu_links && medium;
  return carrier_of_member(member) + (has_media ? in_words(*medium) : "");
}

}  // namespace

std::string carrier_of_member(const std::string& member) {
  const auto* known = find_transport(member);
  return known == nullptr || known->carrier.empty() ? member : std::string(known->carrier);
}

SeenMedium seen_medium(std::set<Medium> media, MediumProof proof) {
  if (media.empty() || media.contains(Medium::unknown)) return {.proof = proof};
  if (media.size() == 1) return {.medium = *media.begin(), .proof = proof};
  return {.medium = Medium::mixed, .proof = proof, .parts = std::move(media)};
}

std::string denial_in_words(const SeenMedium& seen) {
  if (!seen.counted) return "NVLink's counters did not see all of the bytes";
  if (*seen.counted == 0) return "NVLink's counters stood still";
  return fmt::format("NVLink's counters saw {} % of the bytes",
                     significant(100 * *seen.counted, 2));
}

std::optional<SeenMedium> medium_in(const Json& json) {
  if (!json.is_object() || !json.contains("medium")) return std::nullopt;
  SeenMedium seen{
      .medium = value_of(medium_names, text_at(json, "/medium")).value_or(Medium::unknown),
      .proof =
          value_of(medium_proof_names, text_at(json, "/medium_proof")).value_or(MediumProof::none),
      .counted = number_at(json, "medium_counted")};
  for (const auto& name : texts_of(json.value("media", Json::array()))) {
    seen.parts.insert(value_of(medium_names, name).value_or(Medium::unknown));
  }
  return seen;
}

void put_medium(const SeenMedium& seen, Json& json) {
  json["medium"] = name_of(medium_names, seen.medium);
  json["medium_proof"] = name_of(medium_proof_names, seen.proof);
  if (seen.counted) json["medium_counted"] = *seen.counted;
  for (const auto part : seen.parts) json["media"].push_back(name_of(medium_names, part));
}

std::string to_string(Unmet unmet) { return std::string(name_of(unmet_names, unmet)); }

double share_by(const std::vector<std::string>& members,
                const std::map<std::string, double>& carried) {
  double share = 0;
  for (const auto& [member, part] : carried) {
    if (has(members, member) || has(members, "auto")) share += part;
  }
  return share;
}

double share_by(const std::vector<std::string>& members, const Json& path) {
  return share_by(members, carried_by(path));
}

double share_over(Fabric fabric, const Json& path) {
  double share = 0;
  for (const auto& [member, part] : carried_by(path)) {
    if (fabric_of(member) == fabric) share += part;
  }
  return share;
}

Unmet unmet_by(const std::vector<std::string>& members, const Json& path,
               const std::optional<SeenMedium>& medium, bool same_gpu) {
  const auto carried = carried_by(path);
  if (carried.empty()) return Unmet::not_known;
  const auto share = share_by(members, carried);
  if (share < nearly_all_payload) {
    const auto unknown = number_at(path, "unknown_share").value_or(0);
    return share + unknown < nearly_all_payload ? Unmet::too_little : Unmet::not_known;
  }
  const auto carried_much = [&](const char* member) {
    return has(members, member) && carried.contains(member) && carried.at(member) >= counts;
  };
  if (carried_much("ib") && text_at(path, "/eliminated", "") == "ib") return Unmet::eliminated;
  if (!carried_much("nvlink")) return Unmet::met;
  return unmet_by_medium(medium.value_or(SeenMedium{}), same_gpu);
}

std::set<std::string> main_carriers(const Json& path, const std::optional<SeenMedium>& medium) {
  std::set<std::string> carriers;
  auto without_share = medium;  // which is another one in each launch
  if (without_share) without_share->counted.reset();
  for (const auto& [member, share] : carried_by(path)) {
    if (share >= least_carried) carriers.insert(in_words(member, without_share));
  }
  return carriers;
}

std::map<std::pair<int, int>, std::optional<SeenMedium>> media_of_pairs(const Case& of) {
  std::map<std::pair<int, int>, std::optional<SeenMedium>> media;
  for (const auto& pair : of.pairs) {
    const auto medium = medium_in(pair);
    if (medium) media[{pair.at("src").get<int>(), pair.at("dst").get<int>()}] = medium;
  }
  return media;
}

std::string carriers_in_words(const Json& path, const std::optional<SeenMedium>& medium) {
  std::map<std::string, double> shares;
  for (const auto& [member, share] : carried_by(path)) shares[in_words(member, medium)] = share;
  if (const auto unknown = number_at(path, "unknown_share")) shares["unknown"] = *unknown;
  return shares_in_words(shares);
}

std::string carriers_in_words(const Json& path) { return carriers_in_words(path, medium_in(path)); }

}  // namespace ucxbench
