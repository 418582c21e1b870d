// From the log of what each of Dask's workers has received.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <set>

#include "harness/core/failure.hpp"
#include "harness/core/json.hpp"
#include "harness/core/read_json.hpp"
#include "harness/result/words.hpp"
#include "workloads/replay/traffic.hpp"

namespace ucxbench::replay {
namespace {

constexpr std::uint64_t request_bytes = 8;
constexpr double most_message_bytes = 0x1p53;
constexpr std::size_t most_workers = 1024;

struct Received {
  std::string from, by;
  double start_s = 0, stop_s = 0, bytes = 0;
};

/// What the workers have received, as far as their entries can be played.
struct Log {
  std::vector<Received> all{};
  std::size_t bad = 0;
  std::string first_bad{};  ///< where it stands
};

/// Empty for an entry that cannot be: clocks that were set between its start and its stop, another
/// tool's entries.
std::optional<Received> received_of(const std::string& by, const Json& entry) {
  const auto start = number_at(entry, "start");
  const auto stop = number_at(entry, "stop");
  const auto bytes = number_at(entry, "total");
  const auto from = text_at(entry, "/who", "");
  const bool right = start && stop && bytes && !from.empty() && from != by && *start <= *stop &&
                     *bytes >= 0 && *bytes <= most_message_bytes;
  return right ? std::optional(Received{from, by, *start, *stop, *bytes}) : std::nullopt;
}

Log log_of(const std::filesystem::path& file, const Json& workers) {
  Log log;
  for (const auto& [by, entries] : workers.items()) {
    if (!entries.is_array()) throw refusal(file, fmt::format("'{}' is not a list", by));
    for (std::size_t at = 0; at < entries.size(); ++at) {
      if (auto received = received_of(by, entries.at(at))) {
        log.all.push_back(std::move(*received));
      } else if (++log.bad == 1) {
        log.first_bad = fmt::format("entry {} of '{}'", at, by);
      }
    }
  }
  if (!log.all.empty() || log.bad == 0) return log;
  throw refusal(file, fmt::format("{}: expected who (another worker), start and stop in seconds, "
                                  "total in bytes, as in Dask's transfer_incoming_log",
                                  log.first_bad));
}

/// The workers' logs of Client.dump_cluster_state(), which has them among other things.
Json of_workers(Json json) {
  const auto workers = json.find("workers");
  if (workers == json.end() || !workers->is_object()) return json;
  if (workers->size() > most_workers) return std::move(*workers);  // which is refused for that
  Json logs = Json::object();
  for (const auto& [name, worker] : workers->items()) {
    if (!worker.is_object()) continue;
    logs[name] = worker.value("transfer_incoming_log", Json::array());
  }
  return logs;
}

std::vector<std::string> doubts_of(const Log& log, const Json& workers) {
  std::vector<std::string> doubts;
  if (log.bad > 0) {
    doubts.push_back(
        fmt::format("{} of {} cannot be (first {}) and are left out: expected who (another "
                    "worker), start no later "
                    "than stop, total in bytes",
                    log.bad, counted(log.bad + log.all.size(), "entry", "entries"), log.first_bad));
  }
  std::set<std::string> unknown;
  double bytes = 0;
  for (const auto& received : log.all) {
    if (!workers.contains(received.from)) unknown.insert(received.from);
    bytes += received.bytes;
  }
  if (!unknown.empty()) {
    doubts.push_back(fmt::format("no list of {}: taken as {} that received nothing",
                                 fmt::join(unknown, ", "),
                                 unknown.size() == 1 ? "a worker" : "workers"));
  }
  // Less than any data that are worth a measurement.
  constexpr double hardly_any = 64 << 10;
  if (!log.all.empty() && bytes < hardly_any) {
    doubts.push_back(
        fmt::format("{:.0f} bytes in {}: P2P shuffles and joins send in a way that this log does "
                    "not have; to record them, set dask.config.set({{\"dataframe.shuffle.method\": "
                    "\"tasks\"}}) before",
                    bytes, counted(log.all.size(), "entry", "entries")));
  }
  return doubts;
}

void refuse_many(const std::filesystem::path& log, std::size_t workers) {
  if (workers <= most_workers) return;
  throw refusal(log, fmt::format("{} workers; expected at most {}", workers, most_workers));
}

Json parsed(const std::filesystem::path& log, const std::string& text) {
  std::string why = "it is not an object of workers";
  try {
    // Dumps of a cluster have its tasks, of which there may be any number, in one object.
    auto json = read_json(text, {.members = JsonLimits().values});
    if (json.is_object()) return json;
  } catch (const BadJson& bad) {
    why = bad.what();
  }
  throw refusal(log, "neither a run file nor a dump of Dask's transfer_incoming_log: " + why);
}

}  // namespace

Traffic parse_dask_log(const std::filesystem::path& log, const std::string& text) {
  const auto workers = of_workers(parsed(log, text));
  refuse_many(log, workers.size());
  const auto dumped = log_of(log, workers);
  const auto& all = dumped.all;
  std::map<std::string, std::uint16_t> numbers;
  for (const auto& [name, entries] : workers.items()) numbers[name];
  for (const auto& received : all) numbers[received.from];
  refuse_many(log, numbers.size());
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
  auto traffic = traffic_of(log, std::move(ranks), 0);
  traffic.doubts = doubts_of(dumped, workers);
  return traffic;
}

}  // namespace ucxbench::replay
