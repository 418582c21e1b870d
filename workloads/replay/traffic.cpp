#include "workloads/replay/traffic.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "harness/core/files.hpp"
#include "harness/core/hash.hpp"
#include "harness/result/words.hpp"
#include "workloads/replay/stretches.hpp"

namespace ucxbench::replay {
namespace {

constexpr std::uint64_t most_bytes = std::uint64_t{1} << 30U;

struct Ends {
  std::vector<Transfer*> sent, received;
};

/// By sender, receiver and label.
using AllEnds = std::map<std::tuple<int, int, std::uint64_t>, Ends>;

AllEnds ends_of(std::vector<Script>& ranks) {
  AllEnds all;
  for (auto& rank : ranks) {
    for (auto& message : rank.messages) {
      const bool sent = message.kind == Transfer::send;
      auto& ends = sent ? all[{message.rank, message.peer, message.label}]
                        : all[{message.peer, message.rank, message.label}];
      (sent ? ends.sent : ends.received).push_back(&message);
    }
  }
  return all;
}

void tie(Transfer& sent, Transfer& received) {
  received.completed_ns = std::max(received.completed_ns, sent.posted_ns);
  if (sent.completed_ns <= received.posted_ns) sent.completed_ns = 0;
}

// A log's name without what a key must not have.
std::string key_text(std::string text) {
  std::ranges::replace_if(
      text, [](char c) { return std::string_view(" /=\t\n").find(c) != std::string_view::npos; },
      '-');
  return text;
}

std::string name_of(const std::filesystem::path& log, const std::vector<Script>& ranks) {
  std::string all;
  for (const auto& rank : ranks) {
    all += fmt::format("{};", rank.end_ns);
    for (const auto& m : rank.messages) {
      all += fmt::format("{},{},{},{},{};", m.posted_ns, m.completed_ns, m.bytes, m.peer, m.kind);
    }
  }
  return fmt::format("{}-{:08x}", key_text(log.stem().string()), fnv1a(all) & 0xffffffffU);
}

}  // namespace

std::uint64_t TrafficPair::size_at(double part) const {
  const auto messages = std::ceil(part * static_cast<double>(sizes.size()));
  return sizes.at(std::max<std::size_t>(static_cast<std::size_t>(messages), 1) - 1);
}

Failure refusal(const std::filesystem::path& log, const std::string& what) {
  return {Exit::usage, in_one_line(fmt::format("LOG '{}': {}", log.string(), what))};
}

Traffic traffic_of(const std::filesystem::path& log, std::vector<Script> ranks,
                   std::uint64_t begin_ns) {
  Traffic traffic;
  for (auto& rank : ranks) {
    std::ranges::stable_sort(rank.messages, {}, &Transfer::posted_ns);
    if (!rank.messages.empty()) begin_ns = std::min(begin_ns, rank.messages.front().posted_ns);
  }
  std::map<std::pair<int, int>, std::uint64_t> labels;
  for (auto& [which, ends] : ends_of(ranks)) {
    const auto [from, to, label] = which;
    if (ends.sent.size() != ends.received.size()) {
      throw refusal(log, fmt::format("rank {} sent {} with label {} to rank {}, which received {}: "
                                     "the log is damaged or was full",
                                     from, counted(ends.sent.size(), "message"), label, to,
                                     ends.received.size()));
    }
    for (std::size_t at = 0; at < ends.sent.size(); ++at) {
      auto& sent = *ends.sent[at];
      auto& received = *ends.received[at];
      if (sent.bytes != received.bytes || sent.completed_ns < sent.posted_ns ||
          received.completed_ns < received.posted_ns) {
        throw refusal(log, fmt::format("a message from rank {} to rank {} has two lengths, or "
                                       "ended before it began: the log is damaged",
                                       from, to));
      }
      tie(sent, received);
      sent.label = received.label = labels[{from, to}]++;
      auto& pair = traffic.pairs[{from, to}];
      pair.sizes.push_back(sent.bytes);
      TwoEnds message{.own = received};
      if (ranks[received.rank].clock == ranks[sent.rank].clock) {
        message.other_earliest_ns = message.other_latest_ns = sent.posted_ns;
      }
      pair.timed.add(message);
      ++traffic.messages;
      traffic.bytes += sent.bytes;
    }
  }
  for (auto& [ends, pair] : traffic.pairs) std::ranges::sort(pair.sizes);
  if (traffic.messages == 0) {
    throw refusal(log, "it has no messages");
  }
  for (auto& rank : ranks) {
    for (auto& message : rank.messages) {
      message.posted_ns -= begin_ns;
      // 0 is for those that nobody waited for.
      if (message.completed_ns != 0) {
        message.completed_ns = std::max<std::uint64_t>(message.completed_ns - begin_ns, 1);
      }
    }
    rank.end_ns -= begin_ns;
    traffic.wall_ns = std::max(traffic.wall_ns, rank.end_ns);
  }
  if (static_cast<double>(traffic.wall_ns) > longest_s * 1e9) {
    throw refusal(log, fmt::format("a run of {:.3g} s; expected at most {:.3g} s",
                                   static_cast<double>(traffic.wall_ns) * 1e-9, longest_s));
  }
  traffic.name = name_of(log, ranks);
  traffic.ranks = std::move(ranks);
  return traffic;
}

Order order_of(const Script& script) {
  const auto& messages = script.messages;
  Order order;
  for (std::size_t at = 0; at < messages.size(); ++at) {
    if (messages[at].completed_ns != 0) order.ends.push_back(at);
  }
  const auto ended_ns = [&](std::size_t at) { return messages[at].completed_ns; };
  std::ranges::stable_sort(order.ends, {}, ended_ns);
  std::size_t ended = 0;
  const auto gap_before = [&](std::uint64_t ns) {
    const auto since = ended == 0 ? 0 : ended_ns(order.ends[ended - 1]);
    return ns > since ? ns - since : 0;
  };
  for (const auto& message : messages) {
    while (ended < order.ends.size() && ended_ns(order.ends[ended]) < message.posted_ns) ++ended;
    order.after.push_back(ended);
    order.gaps_ns.push_back(gap_before(message.posted_ns));
  }
  ended = order.ends.size();
  order.gaps_ns.push_back(gap_before(script.end_ns));
  return order;
}

Traffic read_traffic(const std::filesystem::path& log, const std::string& named_case) {
  if (log.empty()) {
    throw Failure(Exit::usage,
                  "LOG: give the run file of a workload, or a dump of Dask's "
                  "transfer_incoming_log");
  }
  if (log.string().ends_with(".transfers.bin")) {
    throw refusal(log, "give the run file that this log belongs to");
  }
  const auto text = read_given(log, most_bytes, "give a run file, or a dump of Dask's log");
  // Run files begin with their schema.
  constexpr std::size_t head = 200;
  if (std::string_view(text).substr(0, head).find("ucx-bench/run/") != std::string_view::npos) {
    return read_recorded_run(log, named_case);
  }
  return parse_dask_log(log, text);
}

}  // namespace ucxbench::replay
