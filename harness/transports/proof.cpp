#include "harness/transports/proof.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <regex>
#include <set>

#include "harness/core/text.hpp"
#include "harness/core/units.hpp"
#include "harness/transports/lanes.hpp"
#include "harness/transports/printed.hpp"

namespace ucxbench {
namespace {

// A counter counts headers and other traffic too: what is below this part of the payload is noise,
// what is above the second is the payload.
constexpr double noise = 0.05;
constexpr double nearly_all = 0.95;

// What a rendezvous says over another lane than that of its payload passes that one's counters: its
// request with the memory's keys and its acknowledgement, with TCP's headers 370 to 760 B for each
// message (UCX 1.22, payload by cuda_ipc on an H200 and on the emulated driver).
constexpr double most_control_bytes = 1024;

std::string member_of_lane(const std::string& lane) {
  return member_of(std::string_view(lane).substr(0, lane.find('/')));
}

// Members that carry payload; not the lanes that only stage or connect.
std::set<std::string> members_of(const std::vector<std::string>& lanes) {
  std::set<std::string> members;
  for (const auto& lane : lanes) {
    const auto member = member_of_lane(lane);
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
    shares[member_of_lane(name)] +=
        static_cast<double>(bytes) / static_cast<double>(evidence.payload_bytes);
  }
  for (auto& [member, share] : shares) share = std::min(share, 1.0);
  std::erase_if(shares, [](const auto& entry) { return entry.second < noise; });
  return shares;
}

bool has_counters(const std::string& member) { return member == "tcp" || member == "ib"; }

std::string in_words(const std::map<std::string, double>& carried) {
  std::vector<std::string> words;
  for (const auto& [member, share] : carried) {
    words.push_back(fmt::format("{} {:.0f} %", member, 100 * share));
  }
  return fmt::format("{}", fmt::join(words, ", "));
}

std::map<std::string, double> all_by(const std::string& member) { return {{member, 1.0}}; }

// The shares, and where they come from.
std::pair<std::map<std::string, double>, std::string> shares(const Evidence& evidence) {
  const auto possible = members_of(evidence.lanes);
  const auto told = members_of(evidence.path.lanes);
  const auto counted = counted_shares(evidence);
  if (told.size() == 1) {
    const auto& member = *told.begin();
    const auto seen = counted.contains(member) ? counted.at(member) : 0.0;
    if (evidence.payload_bytes == 0 || !has_counters(member)) {
      for (const auto& [counted_member, share] : counted) {
        if (counted_member != member && share >= nearly_all && possible.contains(counted_member)) {
          return {all_by(counted_member),
                  fmt::format("UCX names {}, but all bytes passed {}'s counters", member,
                              counted_member)};
        }
      }
      return {all_by(member), fmt::format("UCX: {} on {}", evidence.path.protocol,
                                          fmt::join(evidence.path.lanes, ", "))};
    }
    if (seen >= nearly_all) {
      return {all_by(member), "UCX: " + evidence.path.protocol + ", and the counters of " + member};
    }
    if (possible.size() == 1) {
      return {{},
              fmt::format("UCX names {}, but its counters saw {:.0f} % of the bytes", member,
                          100 * seen)};
    }
  }
  if (possible.size() == 1 &&
      (evidence.payload_bytes == 0 || !has_counters(*possible.begin()) ||
       (counted.contains(*possible.begin()) && counted.at(*possible.begin()) >= nearly_all))) {
    return {all_by(*possible.begin()), "only one configured lane can carry payload"};
  }
  if (possible.empty() && told.empty()) {
    return {{}, evidence.device + " does not say what carries its messages"};
  }
  if (evidence.payload_bytes == 0) return {{}, "several lanes could, and nothing counted"};
  std::map<std::string, double> carried;
  double rest = 1.0;
  std::vector<std::string> uncounted;
  for (const auto& member : possible) {
    if (!has_counters(member)) {
      uncounted.push_back(member);
    } else if (counted.contains(member)) {
      if (may_be_control(evidence, counted.at(member))) {
        // Messages that are alike take one way: a part of each is none of its payload.
        if (evidence.alike) continue;
        return {{},
                fmt::format("{}'s counters saw {:.0f} B for each message of {:.0f} B, and a "
                            "rendezvous by another lane says as much there",
                            member, counted.at(member) * evidence.message_bytes,
                            evidence.message_bytes)};
      }
      carried[member] = std::min(rest, counted.at(member));
      rest -= carried[member];
    }
  }
  if (rest > noise) {
    if (uncounted.size() != 1) {
      return {{},
              fmt::format("{:.0f} % of the bytes passed no counter, and {} could have carried them",
                          100 * rest,
                          uncounted.empty() ? std::string("no configured lane")
                                            : fmt::format("{}", fmt::join(uncounted, " or ")))};
    }
    carried[uncounted.front()] = rest;
  }
  return {carried, "counters: " + in_words(carried)};
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

std::string_view to_string(PathVerdict path) {
  switch (path) {
    case PathVerdict::as_asked:
      return "as-asked";
    case PathVerdict::partly:
      return "partly";
    case PathVerdict::other:
      return "other";
    case PathVerdict::unknown:
      break;
  }
  return "unknown";
}

Verdict judge(const TransportSet& set, const Evidence& evidence) {
  Verdict verdict;
  std::tie(verdict.carried, verdict.why) = shares(evidence);
  const auto possible = members_of(evidence.lanes);
  for (const auto& member : set.members()) {
    if (member == "auto" || possible.empty() || possible.contains(member)) continue;
    verdict.why += fmt::format("; {} configured no lane for {}", evidence.device, member);
  }
  if (verdict.carried.empty()) return verdict;
  const auto by_set = share_of(set, verdict.carried);
  verdict.path = by_set >= nearly_all ? PathVerdict::as_asked
                 : by_set > noise     ? PathVerdict::partly
                                      : PathVerdict::other;
  return verdict;
}

double share_of(const TransportSet& required, const std::map<std::string, double>& carried) {
  double share = 0;
  for (const auto& [member, part] : carried) {
    if (required.has("auto") || required.has(member)) share += part;
  }
  return share;
}

}  // namespace ucxbench
