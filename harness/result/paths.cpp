#include "harness/result/paths.hpp"

#include <algorithm>
#include <cstdint>
#include <set>

#include "harness/core/text.hpp"
#include "harness/result/cases.hpp"
#include "harness/result/labels.hpp"
#include "harness/result/media.hpp"
#include "harness/result/words.hpp"

namespace ucxbench {
namespace {

constexpr double noise_of_counters = 0.05;
constexpr double all_but_noise = 0.95;

using Records = std::vector<const LaunchRecord*>;

/// Those that say what carried them. What was looked at hides what was ended before.
Records with_paths(const Records& all) {
  Records known;
  std::ranges::copy_if(all, std::back_inserter(known), [](const LaunchRecord* record) {
    return !record->path.empty() && !has_label(record->path, Label::interrupted);
  });
  return known.empty() ? all : known;
}

/// Of a case, whose messages have one size: in messages.
double amount_of(const LaunchRecord& record) {
  const auto messages = record.messages + 2 * record.iterations;
  return static_cast<double>(std::max<std::uint64_t>(messages, 1));
}

/// Counters make a record worth more than one of the same verdict without.
const LaunchRecord& worst_of(const Records& records) {
  return **std::ranges::max_element(records, {}, [](const LaunchRecord* record) {
    return std::pair(verdict_in(record->path), record->path.contains("bytes_by_counter"));
  });
}

void add_counters(const Records& records, Json& path) {
  std::map<std::string, std::uint64_t> moved;
  std::uint64_t payload = 0;
  for (const auto* record : records) {
    const auto counters = record->path.find("bytes_by_counter");
    if (counters == record->path.end() || !counters->is_object()) continue;
    payload += static_cast<std::uint64_t>(number_at(record->path, "payload_bytes").value_or(0));
    for (const auto& [counter, bytes] : counters->items()) {
      if (bytes.is_number_unsigned()) moved[counter] += bytes.get<std::uint64_t>();
    }
  }
  if (payload == 0) return;
  path["bytes_by_counter"] = moved;
  path["payload_bytes"] = payload;
}

Json sum_of_records(const Case& of, const Records& all) {
  const auto records = with_paths(all);
  const auto& worst = worst_of(records);
  const auto asked =
      of.parameters.is_object() ? of.parameters.value("transports", Json::array()) : Json::array();
  Json path = {{"asked", asked}, {"lanes", worst.lanes}, {"verdict", "unknown"}};
  path.update(worst.path);
  add_counters(records, path);
  if (carried_by(worst.path).empty()) return path;
  std::map<std::string, double> carried;
  std::set<std::set<std::string>> ways;
  double amount = 0;
  double unknown = 0;
  for (const auto* record : records) {
    const auto own = amount_of(*record);
    const auto shares = carried_by(record->path);
    amount += own;
    if (shares.empty()) unknown += own;
    for (const auto& [member, share] : shares) carried[member] += own * share;
    ways.insert(main_carriers(record->path, std::nullopt));
    if (const auto only = record->path.find("eliminated"); only != record->path.end()) {
      path["eliminated"] = *only;
    }
  }
  for (const auto* name : {"carried_by", "carriers"}) path[name] = Json::object();
  for (auto& [member, share] : carried) {
    share /= amount;
    path["carried_by"][member] = share;
    path["carriers"][carrier_of_member(member)] = share;
  }
  if (unknown > 0) path["unknown_share"] = unknown / amount;
  if (ways.size() > 1) {
    path["why"] = "launches or pairs differ; of the worst: " + text_at(worst.path, "/why");
  }
  const auto verdict = verdict_in(worst.path);
  if (verdict == PathVerdict::other && verdict_of(texts_of(asked), carried) != verdict) {
    path["verdict"] = name_of(path_verdicts, PathVerdict::partly);
  }
  return path;
}

std::map<std::pair<int, int>, Records> records_of_pairs(const Case& of) {
  std::map<std::pair<int, int>, Records> records;
  for (const auto& record : of.launches) records[{record.src, record.dst}].push_back(&record);
  return records;
}

}  // namespace

PathVerdict verdict_of(const std::vector<std::string>& asked,
                       const std::map<std::string, double>& carried) {
  if (carried.empty()) return PathVerdict::unknown;
  const auto share = share_by(asked, carried);
  return share >= all_but_noise      ? PathVerdict::as_asked
         : share > noise_of_counters ? PathVerdict::partly
                                     : PathVerdict::other;
}

PathVerdict verdict_in(const Json& path) {
  return value_of(path_verdicts, text_at(path, "/verdict", "")).value_or(PathVerdict::unknown);
}

std::map<std::string, double> carried_by(const Json& path) {
  std::map<std::string, double> shares;
  const auto found = path.find("carried_by");
  if (found == path.end() || !found->is_object()) return shares;
  for (const auto& [member, share] : found->items()) {
    if (share.is_number()) shares[on_one_line(member)] = share.get<double>();
  }
  return shares;
}

std::string shares_in_words(const std::map<std::string, double>& shares) {
  std::vector<std::string> parts;
  for (const auto& [member, share] : shares) {
    parts.push_back(share >= nearly_all_payload ? member : member + " " + share_text(share));
  }
  return join(parts, ", ");
}

bool is_of_a_pair(const Case& of) {
  std::set<std::pair<int, int>> pairs;
  for (const auto& record : of.launches) pairs.emplace(record.src, record.dst);
  const bool of_peers = is_matrix(of) || of.shows.kind == ViewKind::first_messages;
  return of_peers || pairs.size() > 1 || ranks_of(of) <= 2;
}

void sum_paths(Case& of) {
  of.path = Json::object();
  if (of.launches.empty() || is_canary(of)) return;
  Records all;
  for (const auto& record : of.launches) all.push_back(&record);
  of.path = sum_of_records(of, all);
  for (const auto* record : all) {
    for (const auto& label : record->path.value("labels", Json::array())) {
      add_once(of.labels, label.get<std::string>());
    }
  }
  if (!is_of_a_pair(of)) return;
  const auto records = records_of_pairs(of);
  for (auto& pair : of.pairs) {
    const auto own = records.find({pair.at("src").get<int>(), pair.at("dst").get<int>()});
    if (own == records.end()) continue;
    const auto path = sum_of_records(of, own->second);
    for (const auto* name : {"carried_by", "unknown_share"}) {
      if (path.contains(name)) pair[name] = path.at(name);
    }
  }
}

std::map<std::pair<int, int>, Json> paths_of_pairs(const Case& of) {
  std::map<std::pair<int, int>, Json> paths;
  const auto media = media_of_pairs(of);
  for (const auto& [pair, records] : records_of_pairs(of)) {
    auto& path = paths[pair] = sum_of_records(of, records);
    const auto own = media.find(pair);
    const auto medium = own == media.end() ? medium_in(of.path) : own->second;
    if (medium) put_medium(*medium, path);
  }
  return paths;
}

}  // namespace ucxbench
