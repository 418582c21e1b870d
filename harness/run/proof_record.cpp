#include "harness/run/proof_record.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <system_error>

#include "harness/core/units.hpp"
#include "harness/result/media.hpp"
#include "harness/run/hosts.hpp"

namespace ucxbench {

std::uint64_t counted_messages(std::uint64_t bytes) {
  constexpr std::uint64_t payload = std::uint64_t{512} * 1024;
  constexpr std::uint64_t most = 4096;
  return std::clamp<std::uint64_t>(payload / std::max<std::uint64_t>(bytes, 1), 2, most);
}

Json counted_here(const Counters& moved) {
  std::error_code none;
  const auto space = std::filesystem::read_symlink("/proc/self/ns/net", none).string();
  return {{"machine", boot_id()}, {"network", space}, {"moved", moved}};
}

Counters counted_by_all(const std::vector<Json>& ranks) {
  std::map<std::string, Counters> by_place;
  for (const auto& rank : ranks) {
    if (rank.is_null()) continue;
    const auto machine = rank.at("machine").get<std::string>();
    const auto network = machine + rank.at("network").get<std::string>();
    for (const auto& [counter, bytes] : rank.at("moved").get<Counters>()) {
      auto& most = by_place[counter.starts_with("tcp/") ? network : machine][counter];
      most = std::max(most, bytes);
    }
  }
  Counters all;
  for (const auto& [place, counters] : by_place) {
    for (const auto& [counter, bytes] : counters) all[counter] += bytes;
  }
  return all;
}

Json protocol_record(std::uint64_t bytes, const char* use, const MessagePath& path) {
  return {{"range", exact_size(bytes)},
          {"use", use},
          {"protocol", path.protocol},
          {"device", fmt::format("{}", fmt::join(path.lanes, ", "))},
          {"count", 1}};
}

Json path_record(const TransportSet& asked, const Evidence& evidence, const Json& protocols,
                 const Json& labels) {
  const auto verdict = judge(asked, evidence);
  Json path = {{"protocols", protocols},
               {"carried_by", verdict.carried},
               {"proof", to_string(verdict.proof)},
               {"verdict", name_of(path_verdicts, verdict.path)},
               {"why", verdict.why},
               {"labels", labels}};
  if (!verdict.eliminated.empty()) path["eliminated"] = verdict.eliminated;
  for (const auto& [member, share] : verdict.carried) {
    path["carriers"][carrier_of_member(member)] = share;
  }
  if (evidence.payload_bytes > 0) {
    path["bytes_by_counter"] = evidence.moved;
    path["payload_bytes"] = evidence.payload_bytes;
  }
  return path;
}

}  // namespace ucxbench
