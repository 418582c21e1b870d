// From the log of what each of Dask's workers has received.

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>

#include "harness/core/failure.hpp"
#include "harness/core/json.hpp"
#include "harness/core/json_depth.hpp"
#include "harness/result/words.hpp"
#include "workloads/replay/traffic.hpp"

namespace ucxbench::replay {
namespace {

constexpr std::uint64_t request_bytes = 8;
constexpr double most_message_bytes = 0x1p53;

struct Received {
  std::string from, by;
  double start_s = 0, stop_s = 0, bytes = 0;
};

Received received_of(const std::filesystem::path& log, const std::string& by, std::size_t at,
                     const Json& entry) {
  const auto start = number_at(entry, "start");
  const auto stop = number_at(entry, "stop");
  const auto bytes = number_at(entry, "total");
  const auto from = text_at(entry, "/who", "");
  const bool right = start && stop && bytes && !from.empty() && from != by && *start <= *stop &&
                     *bytes >= 0 && *bytes <= most_message_bytes;
  if (right) return {from, by, *start, *stop, *bytes};
  throw refusal(log, fmt::format("entry {} of '{}': expected who (another worker), start and stop "
                                 "in seconds, total in bytes, as in Dask's transfer_incoming_log",
                                 at, by));
}

std::vector<Received> all_of(const std::filesystem::path& log, const Json& workers) {
  std::vector<Received> all;
  for (const auto& [by, entries] : workers.items()) {
    if (!entries.is_array()) throw refusal(log, fmt::format("'{}' is not a list", by));
    for (std::size_t at = 0; at < entries.size(); ++at) {
      all.push_back(received_of(log, by, at, entries.at(at)));
    }
  }
  return all;
}

Json parsed(const std::filesystem::path& log, const std::string& text) {
  std::string why = "it is nested too deep";
  try {
    if (!too_deep(text)) {
      auto json = Json::parse(text);
      if (json.is_object()) return json;
      why = "it is not an object of workers";
    }
  } catch (const std::exception& error) {
    why = why_not_json(error);
  }
  throw refusal(log, "neither a run file nor a dump of Dask's transfer_incoming_log: " + why);
}

}  // namespace

Traffic parse_dask_log(const std::filesystem::path& log, const std::string& text) {
  const auto workers = parsed(log, text);
  const auto all = all_of(log, workers);
  std::map<std::string, std::uint16_t> numbers;
  for (const auto& [name, entries] : workers.items()) numbers[name];
  for (const auto& received : all) numbers[received.from];
  constexpr std::size_t most_workers = 1024;
  if (numbers.size() > most_workers) {
    throw refusal(log,
                  fmt::format("{} workers; expected at most {}", numbers.size(), most_workers));
  }
  std::uint16_t count = 0;
  auto begin_s = std::numeric_limits<double>::max();
  for (auto& [name, number] : numbers) number = count++;
  for (const auto& received : all) begin_s = std::min(begin_s, received.start_s);
  // What is longer is refused further on.
  const auto ns = [&](double s) {
    return static_cast<std::uint64_t>(std::min(s - begin_s, 2 * longest_s) * 1e9);
  };
  std::vector<Script> ranks(count);
  std::uint64_t label = 0;
  for (const auto& received : all) {
    const auto from = numbers.at(received.from);
    const auto by = numbers.at(received.by);
    // After the request has come, which takes no time here.
    const auto asked = ns(received.start_s) + 1;
    const auto answered = asked + 1;
    const auto came = std::max(ns(received.stop_s), answered + 1);
    const auto bytes = static_cast<std::uint64_t>(received.bytes);
    const auto add = [&](std::uint16_t rank, std::uint16_t peer, Transfer::Kind kind,
                         std::uint64_t size, std::uint64_t posted, std::uint64_t completed) {
      ranks[rank].messages.push_back({.posted_ns = posted,
                                      .completed_ns = completed,
                                      .bytes = size,
                                      .label = label,
                                      .rank = rank,
                                      .peer = peer,
                                      .kind = kind});
      ranks[rank].end_ns = std::max(ranks[rank].end_ns, completed);
    };
    add(by, from, Transfer::send, request_bytes, asked, asked);
    add(by, from, Transfer::receive, bytes, asked, came);
    add(from, by, Transfer::receive, request_bytes, 0, asked);
    add(from, by, Transfer::send, bytes, answered, came);
    ++label;
  }
  return traffic_of(log, std::move(ranks), 0);
}

}  // namespace ucxbench::replay
