#include "harness/transports/proof.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <regex>
#include <set>

#include "harness/core/names.hpp"
#include "harness/core/text.hpp"
#include "harness/core/units.hpp"
#include "harness/result/media.hpp"
#include "harness/result/transports.hpp"
#include "harness/transports/lanes.hpp"
#include "harness/transports/printed.hpp"

namespace ucxbench {
namespace {

constexpr Names<Proof, 10> proof_names = {{{Proof::counted, "counted"},
                                           {Proof::told_and_counted, "told-and-counted"},
                                           {Proof::told, "told"},
                                           {Proof::only_lane, "only-lane"},
                                           {Proof::eliminated, "eliminated"},
                                           {Proof::contradicted, "contradicted"},
                                           {Proof::control, "control"},
                                           {Proof::not_counted, "not-counted"},
                                           {Proof::ambiguous, "ambiguous"},
                                           {Proof::silent, "silent"}}};

// A counter counts headers and other traffic too: what is below this part of the payload is noise,
// what is above the second is the payload.
constexpr double noise = 0.05;
constexpr double nearly_all = 0.95;

// What a rendezvous says over another lane than that of its payload passes that one's counters: its
// request with the memory's keys and its acknowledgement, with TCP's headers 370 to 760 B for each
// message (UCX 1.22, payload by cuda_ipc on an H200 and on the emulated driver).
constexpr double most_control_bytes = 1024;

// Members that carry payload; not the lanes that only stage or connect.
std::set<std::string> members_of(const std::vector<std::string>& lanes) {
  std::set<std::string> members;
  for (const auto& lane : lanes) {
    const auto member = transport_of_lane(lane);
    if (member != "staging" && member != "wireup") members.insert(member);
  }
  return members;
}

// Whether what a counter saw is no more than what messages by another lane would say here.
bool may_be_control(const Evidence& evidence, double share) {
  const auto of_each = share * evidence.message_bytes;
  return share < nearly_all && of_each > 0 && of_each <= most_control_bytes;
}

std::map<std::string, double> counted_shares(const Evidence& evidence) {
  std::map<std::string, double> shares;
  if (evidence.payload_bytes == 0) return shares;
  for (const auto& [name, bytes] : evidence.moved) {
    shares[transport_of_lane(name)] +=
        static_cast<double>(bytes) / static_cast<double>(evidence.payload_bytes);
  }
  for (auto& [member, share] : shares) share = std::min(share, 1.0);
  std::erase_if(shares, [](const auto& entry) { return entry.second < noise; });
  return shares;
}

// Each host has those of its network devices. An adapter, or GPUs, may have none; and bytes that
// cuda_ipc carried need not cross an NVLink, so that its counters can prove it but not deny it.
bool has_counters(const Evidence& evidence, const std::string& member) {
  const auto fabric = fabric_of(member);
  return fabric == Fabric::sockets ||
         (fabric == Fabric::rdma && std::ranges::any_of(evidence.moved, [](const auto& counter) {
            return counter.first.starts_with("ib/");
          }));
}

std::string in_words(const std::map<std::string, double>& carried) {
  std::vector<std::string> words;
  for (const auto& [member, share] : carried) {
    words.push_back(fmt::format("{} {:.0f} %", carrier_of_member(member), 100 * share));
  }
  return fmt::format("{}", fmt::join(words, ", "));
}

std::string counters_of(const std::string& member) {
  return fabric_of(member) == Fabric::gpu_links ? "NVLink" : member;
}

// What a line has to say beside the proof: of which member, how much of the payload its counters
// saw or others did not, and which members are left.
struct Shares {
  Proof proof = Proof::silent;
  std::map<std::string, double> carried{};
  std::string member{};
  double share = 0;
  std::vector<std::string> left{};
};

std::string why_of(const Shares& of, const Evidence& evidence) {
  const auto counters = counters_of(of.member);
  switch (of.proof) {
    case Proof::counted:
      return "counters: " + in_words(of.carried);
    case Proof::told_and_counted:
      return fmt::format("UCX: {}, and the counters of {}", evidence.path.protocol, counters);
    case Proof::told:
      return fmt::format("UCX: {} on {}", evidence.path.protocol,
                         fmt::join(evidence.path.lanes, ", "));
    case Proof::only_lane:
      return "only one configured lane can carry payload";
    case Proof::eliminated:
      return fmt::format(
          "by elimination: {}, as counters did not see {:.0f} % of the bytes and no "
          "lane but {} is left",
          in_words(of.carried), 100 * of.share, carrier_of_member(of.member));
    case Proof::contradicted:
      return fmt::format("UCX names {}, but its counters saw {:.0f} % of the bytes",
                         carrier_of_member(of.member), 100 * of.share);
    case Proof::control:
      return fmt::format(
          "{}'s counters saw {:.0f} B for each message of {:.0f} B, and a "
          "rendezvous by another lane says as much there",
          counters, of.share * evidence.message_bytes, evidence.message_bytes);
    case Proof::not_counted:
      return "several lanes could, and nothing counted";
    case Proof::ambiguous: {
      std::vector<std::string> names;
      for (const auto& member : of.left) names.push_back(carrier_of_member(member));
      return fmt::format("{:.0f} % of the bytes passed no counter, and {} could have carried them",
                         100 * of.share,
                         names.empty() ? std::string("no configured lane")
                                       : fmt::format("{}", fmt::join(names, " or ")));
    }
    case Proof::silent:
      break;
  }
  return evidence.device + " does not say what carries its messages";
}

Shares all_by(const std::string& member, Proof proof) {
  return {.proof = proof, .carried = {{member, 1.0}}, .member = member};
}

// What counters of each member say; the rest went by the one lane without any.
Shares shares_by_counters(const std::set<std::string>& possible, const Evidence& evidence) {
  const auto counted = counted_shares(evidence);
  Shares of{.proof = Proof::counted};
  double rest = 1.0;
  for (const auto& member : possible) {
    const auto seen = counted.find(member);
    if (!has_counters(evidence, member)) {
      if (fabric_of(member) != Fabric::gpu_links || seen == counted.end() ||
          seen->second < nearly_all) {
        of.left.push_back(member);
        continue;
      }
    }
    if (seen == counted.end()) continue;
    if (may_be_control(evidence, seen->second)) {
      // Messages that are alike take one way: a part of each is none of its payload.
      if (evidence.alike) continue;
      return {.proof = Proof::control, .member = member, .share = seen->second};
    }
    of.carried[member] = std::min(rest, seen->second);
    rest -= of.carried[member];
  }
  if (rest <= noise) return of;
  of.share = rest;
  if (of.left.size() != 1) {
    of.carried.clear();
    of.proof = Proof::ambiguous;
    return of;
  }
  of.proof = Proof::eliminated;
  of.member = of.left.front();
  of.carried[of.member] = rest;
  return of;
}

Shares shares(const Evidence& evidence) {
  const auto possible = members_of(evidence.lanes);
  const auto told = members_of(evidence.path.lanes);
  const auto counted = counted_shares(evidence);
  const auto seen = [&](const std::string& member) {
    return counted.contains(member) ? counted.at(member) : 0.0;
  };
  const auto is_silent = [&](const std::string& member) {
    return evidence.payload_bytes == 0 || !has_counters(evidence, member);
  };
  if (told.size() == 1) {
    const auto& member = *told.begin();
    if (seen(member) >= nearly_all) return all_by(member, Proof::told_and_counted);
    if (is_silent(member)) {
      for (const auto& [other, share] : counted) {
        if (share >= nearly_all && possible.contains(other)) return all_by(other, Proof::counted);
      }
      return all_by(member, Proof::told);
    }
    if (possible.size() == 1) {
      return {.proof = Proof::contradicted, .member = member, .share = seen(member)};
    }
  }
  if (possible.size() == 1) {
    const auto& member = *possible.begin();
    if (is_silent(member) || seen(member) >= nearly_all) return all_by(member, Proof::only_lane);
  }
  if (possible.empty() && told.empty()) return {};
  if (evidence.payload_bytes == 0) return {.proof = Proof::not_counted};
  return shares_by_counters(possible, evidence);
}

// Of a message whose estimate UCX rounds to 0.1 MiB/s (which it calls MB/s) and to 0.01 us: by the
// one that is nearer to the truth.
std::optional<double> estimate_us(double bytes, double MiB_per_s, double us) {
  if (bytes > 0 && MiB_per_s > 10 * us) return bytes / MiB_per_s * (1e6 / (1 << 20));
  return us > 0 ? std::optional(us) : std::nullopt;
}

}  // namespace

MessagePath parse_request_info(std::string_view text) {
  static const std::regex new_engine(R"(length (\d+) (.*?)(?: ([0-9.]+) MB/s ([0-9.]+) us)?$)");
  static const std::regex new_lane(R"(\b([a-z][a-z0-9_]*/[A-Za-z0-9_.:-]+))");
  static const std::regex old_engine(R"(length \d+ (\S+)\(\) lane\[)");
  const std::string all(trim_text(text));
  std::smatch match;
  if (std::regex_search(all, match, old_engine)) {
    const auto function = match[1].str();
    if (function.find("rndv_rts") != std::string::npos)
      return {"rendezvous, read by the receiver", {}};
    const bool rendezvous = function.find("rndv") != std::string::npos;
    return {rendezvous ? "rendezvous, " + function : "eager", parse_lanes(all)};
  }
  if (!all.starts_with('{') || !std::regex_search(all, match, new_engine)) return {};
  const auto words = match[2].str();
  MessagePath path{words, distinct_matches(words, new_lane)};
  if (match[4].matched) {
    path.expected_us = estimate_us(std::stod(match[1].str()), std::stod(match[3].str()),
                                   std::stod(match[4].str()));
  }
  // "rendezvous zero-copy read from remote cma/memory": the lanes stand apart in what is returned.
  for (const auto& lane : path.lanes) {
    const auto at = path.protocol.find(lane);
    if (path.lanes.size() == 1 && at != std::string::npos) path.protocol.erase(at);
  }
  path.protocol = std::string(trim_text(path.protocol));
  return path;
}

std::string_view to_string(Proof proof) { return name_of(proof_names, proof); }

Verdict judge(const TransportSet& set, const Evidence& evidence) {
  const auto found = shares(evidence);
  Verdict verdict{.carried = found.carried,
                  .proof = found.proof,
                  .eliminated = found.proof == Proof::eliminated ? found.member : "",
                  .why = why_of(found, evidence)};
  const auto possible = members_of(evidence.lanes);
  for (const auto& member : set.members()) {
    if (fabric_of(member) == Fabric::any || possible.empty() || possible.contains(member)) continue;
    verdict.why += fmt::format("; {} configured no lane for {}", evidence.device, member);
  }
  verdict.path = verdict_of(set.members(), verdict.carried);
  return verdict;
}

}  // namespace ucxbench
