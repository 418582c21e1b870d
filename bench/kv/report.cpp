#include "bench/kv/report.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <string>
#include <utility>

#include "harness/core/clock.hpp"
#include "harness/result/samples.hpp"

namespace ucxbench::kv {
namespace {

constexpr std::size_t kept_samples = 1000;

void append(std::vector<double>& all, const Json& of_rank, const char* name) {
  for (const auto& value : of_rank.at(name)) all.push_back(value.get<double>());
}

void append(std::vector<double>& all, const std::vector<double>& more) {
  all.insert(all.end(), more.begin(), more.end());
}

using Values = std::map<std::string, std::vector<double>>;

void add_later(Values& values, const Round& round, const Layout& layout) {
  const auto descriptors = static_cast<double>(layout.shape().descriptors) * layout.shape().decode;
  append(values["post_us"], round.post_us);
  append(values["first_layer_us"], round.first_layer_us);
  for (std::size_t rank = 0; rank < round.done_us.size(); ++rank) {
    values["transfer_us"].push_back(round.done_us[rank] - round.post_us[rank]);
    values["posting_ratio"].push_back(round.post_us[rank] / round.done_us[rank]);
  }
  values["descriptors_per_s"].push_back(descriptors / round.span_ns * 1e9);
}

// What follows from the times of all ranks: those who post begin when they have left the meeting.
// A rank that does not may leave it when all has come.
void put_together(const std::vector<Json>& ranks, std::size_t at, Round& round) {
  std::vector<Json> rounds;
  std::vector<Met> meetings;
  for (const auto& rank : ranks) {
    rounds.push_back(rank.at("rounds").at(at));
    meetings.push_back(met_from(rounds.back().at("meeting")));
  }
  const TimeAxis axis(have_one_identity(ranks), meetings);
  const auto spans_to = [&](const char* end) {
    std::vector<Span> spans;
    for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
      const auto end_ns = rounds[rank].at(end).get<std::uint64_t>();
      const auto& meeting = meetings[rank];
      if (end_ns == 0) continue;
      spans.push_back(
          {.begin = axis.at(meeting.left_ns, meeting), .end = axis.at(end_ns, meeting)});
    }
    return spans;
  };
  const auto posting = spans_to("end_ns");
  if (posting.empty()) return;
  round.span_ns = together_of(posting).span_ns;
  for (auto told : spans_to("first_layer_ns")) {
    told.begin = posting.front().begin;
    for (const auto& [begin, end, bytes] : posting) {
      told.begin.earliest_ns = std::min(told.begin.earliest_ns, begin.earliest_ns);
    }
    round.first_layer_us.push_back((told.end.latest_ns - told.begin.earliest_ns) * 1e-3);
  }
}

}  // namespace

Json to_json(const Session& session, const std::string& clock) {
  Json rounds = Json::array();
  for (const auto& round : session.rounds) {
    auto pairs = Json::array();
    for (const auto& of : round.pairs) pairs.push_back({of.src, of.dst, of.us});
    rounds.push_back({{"post_us", round.post_us},
                      {"done_us", round.done_us},
                      {"first_layer_us", round.first_layer_us},
                      {"pairs", std::move(pairs)},
                      {"meeting", to_json(round.meeting)},
                      {"end_ns", round.end_ns},
                      {"first_layer_ns", round.first_layer_ns}});
  }
  return {{"register_us", session.register_us},
          {"prepare_us", session.prepare_us},
          {"rounds", std::move(rounds)},
          {"clock", clock}};
}

Session session_of(const std::vector<Json>& ranks) {
  Session session;
  for (const auto& rank : ranks) {
    append(session.register_us, rank, "register_us");
    append(session.prepare_us, rank, "prepare_us");
    session.rounds.resize(rank.at("rounds").size());
    for (std::size_t at = 0; at < session.rounds.size(); ++at) {
      auto& round = session.rounds[at];
      const auto& of_rank = rank.at("rounds")[at];
      append(round.post_us, of_rank, "post_us");
      append(round.done_us, of_rank, "done_us");
      append(round.first_layer_us, of_rank, "first_layer_us");
      for (const auto& of : of_rank.at("pairs")) {
        round.pairs.push_back({of.at(0).get<int>(), of.at(1).get<int>(), of.at(2).get<double>()});
      }
    }
  }
  for (std::size_t at = 0; at < session.rounds.size(); ++at) {
    put_together(ranks, at, session.rounds[at]);
  }
  return session;
}

LaunchRecord record_of(const std::vector<Session>& sessions, const Layout& layout,
                       double clock_step_ns) {
  Values values;
  std::uint64_t rounds = 0;
  const auto pair_bytes = static_cast<double>(layout.of_pair() * layout.shape().bytes);
  std::map<std::pair<int, int>, std::vector<double>> pairs;  // GB/s
  for (const auto& session : sessions) {
    append(values["register_us"], session.register_us);
    append(values["prepare_us"], session.prepare_us);
    bool first = true;
    for (const auto& round : session.rounds) {
      ++rounds;
      const bool was_first = std::exchange(first, false);
      if (!(round.span_ns >= Clock::least_steps * clock_step_ns)) continue;
      const auto GBps = static_cast<double>(layout.bytes_of_round()) / round.span_ns;
      values[was_first ? "first_round_GBps" : "later_round_GBps"].push_back(GBps);
      if (was_first) continue;
      add_later(values, round, layout);
      for (const auto& of : round.pairs) {
        if (of.us * 1e3 < Clock::least_steps * clock_step_ns) continue;
        pairs[{of.src, of.dst}].push_back(pair_bytes / of.us * 1e-3);
      }
    }
  }
  LaunchRecord record;
  record.src = 0;
  record.dst = layout.shape().prefill;
  record.iterations = rounds;
  record.messages = rounds * layout.of_pair();
  for (auto& [name, all] : values) {
    if (all.empty()) continue;
    const bool time = name.ends_with("_us");
    record.samples[name] =
        make_samples(std::move(all), kept_samples, time ? clock_step_ns * 1e-3 : 0);
  }
  add_pair_medians(record, pairs);
  return record;
}

}  // namespace ucxbench::kv
