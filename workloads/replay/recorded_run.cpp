// From a run file of ours and the transfer log beside it.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <utility>

#include "harness/core/failure.hpp"
#include "harness/result/cases.hpp"
#include "harness/result/clocks.hpp"
#include "harness/result/result.hpp"
#include "harness/result/transfers.hpp"
#include "harness/result/words.hpp"
#include "workloads/replay/traffic.hpp"

namespace ucxbench::replay {
namespace {

std::size_t case_of(const Result& run, const std::vector<LoggedTransfers>& logged,
                    const std::string& named) {
  std::set<std::size_t> there;
  for (const auto& [section, records] : logged) {
    if (section.case_index < run.cases.size() && !records.empty()) there.insert(section.case_index);
  }
  std::vector<std::size_t> meant;
  std::vector<std::string> keys;
  for (const auto at : there) {
    const auto& key = run.cases[at].key;
    keys.push_back(key);
    if (key == named) return at;
    if (key.find(named) != std::string::npos) meant.push_back(at);
  }
  if (meant.size() == 1) return meant.front();
  if (keys.empty()) throw refusal(run.file, "its transfer log has none of its cases");
  throw refusal(run.file,
                fmt::format("--case '{}' matches {} of the cases in its transfer log: {}", named,
                            meant.empty() ? "none" : "several", fmt::join(keys, ", ")));
}

constexpr std::size_t most_ranks = 1024;

struct Span {
  std::uint64_t begin = std::numeric_limits<std::uint64_t>::max(), end = 0;

  void add(std::uint64_t from, std::uint64_t to) {
    begin = std::min(begin, from);
    end = std::max(end, to);
  }
};

/// Which run of which launch.
using RunNumber = std::pair<std::uint32_t, std::uint32_t>;

class Reader {
 public:
  Reader(const Result& run, const std::vector<LoggedTransfers>& logged, std::size_t index)
      : run_(run), logged_(logged), index_(index), clocks_(run) {}

  Traffic read() {
    const auto spans = spans_by_run();
    const auto chosen = median_run(spans);
    std::vector<Script> ranks(count_);
    for (const auto& [section, records] : logged_) {
      if (section.case_index != index_ || section.launch != chosen.first) continue;
      const auto clock = clock_of(section);
      for (auto message : records) {
        if (message.kind == Transfer::phase || message.iteration != chosen.second) continue;
        if (message.peer >= count_ || message.completed_ns == 0) {
          throw refusal(run_.file, "its transfer log is damaged: a message has no end");
        }
        message.posted_ns = time_of(clock, message.posted_ns);
        message.completed_ns = time_of(clock, message.completed_ns);
        message.rank = static_cast<std::uint16_t>(section.rank);
        ranks[section.rank].messages.push_back(message);
      }
    }
    auto begin = std::numeric_limits<std::uint64_t>::max();
    for (const auto& [rank, span] : spans.at(chosen)) {
      begin = std::min(begin, span.begin);
      ranks[rank].end_ns = span.end;
      ranks[rank].clock = hosts_[static_cast<int>(rank)];
    }
    return traffic_of(run_.file, std::move(ranks), begin);
  }

 private:
  using Spans = std::map<RunNumber, std::map<std::uint32_t, Span>>;

  SeenClock clock_of(const TransferSection& section) const {
    const auto clock = clocks_.of(section.case_index, static_cast<int>(section.launch),
                                  static_cast<int>(section.rank));
    return clock.value_or(SeenClock{});  // or as if it were the first host's
  }

  static std::uint64_t time_of(const SeenClock& clock, std::uint64_t ns) {
    return static_cast<std::uint64_t>(std::max<std::int64_t>(clock.on_first(ns), 1));
  }

  /// From the begin of each rank's first phase to the end of its last.
  Spans spans_by_run() const {
    Spans spans;
    for (const auto& [section, records] : logged_) {
      if (section.case_index != index_) continue;
      if (section.rank >= count_ || count_ > most_ranks) {
        throw refusal(run_.file, fmt::format("its transfer log is damaged: it has a rank {}, and "
                                             "the case has {} ranks",
                                             section.rank, count_));
      }
      const auto clock = clock_of(section);
      for (const auto& phase : records) {
        if (phase.kind != Transfer::phase) continue;
        spans[{section.launch, phase.iteration}][section.rank].add(
            time_of(clock, phase.posted_ns), time_of(clock, phase.completed_ns));
      }
    }
    return spans;
  }

  /// Among the runs that all ranks have: a full log lacks the last runs of some.
  RunNumber median_run(const Spans& spans) const {
    std::vector<std::pair<std::uint64_t, RunNumber>> whole;
    for (const auto& [number, ranks] : spans) {
      if (ranks.size() != count_) continue;
      Span all;
      for (const auto& [rank, span] : ranks) all.add(span.begin, span.end);
      whole.emplace_back(all.end - all.begin, number);
    }
    if (whole.empty()) {
      throw refusal(run_.file, fmt::format("its transfer log has no complete run of {}",
                                           run_.cases[index_].key));
    }
    std::ranges::sort(whole);
    return whole[(whole.size() - 1) / 2].second;
  }

  const Result& run_;
  const std::vector<LoggedTransfers>& logged_;
  std::size_t index_;
  HostClocks clocks_;
  std::map<int, std::string> hosts_ = hosts_of_ranks(run_, run_.cases[index_]);
  std::size_t count_ = run_.cases[index_].shows.ranks;
};

}  // namespace

Traffic read_recorded_run(const std::filesystem::path& log, const std::string& named_case) {
  const auto run = read_result(log);
  const auto name = text_at(run.run, "/transfers", "");
  if (name.empty()) {
    throw refusal(log,
                  "this run has no transfer log: workloads write one, unless "
                  "--no-transfer-log is given");
  }
  // The log is beside the run file. A path in the name is not followed.
  const auto logged =
      read_transfers(run.file.parent_path() / std::filesystem::path(name).filename());
  return Reader(run, logged, case_of(run, logged, named_case)).read();
}

}  // namespace ucxbench::replay
