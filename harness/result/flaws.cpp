#include "harness/result/flaws.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>

#include "harness/result/cases.hpp"
#include "harness/result/labels.hpp"
#include "harness/result/words.hpp"

namespace ucxbench {

std::optional<Flaw> flaw_of(const Case& of) {
  if (of.verified.errors > 0) return Flaw::wrong_data;
  if (of.state == CaseState::failed) return Flaw::failed;
  if (has_label(of, Label::interrupted)) return Flaw::interrupted;
  return std::nullopt;
}

bool has_failed(const Case& of) {
  const auto flaw = flaw_of(of);
  return flaw && *flaw != Flaw::interrupted;
}

std::string in_words(Flaw flaw, const Case& of) {
  if (flaw == Flaw::interrupted) return "a launch was interrupted";
  if (flaw == Flaw::time_sliced) return "ranks take turns on one GPU, without CUDA MPS";
  if (flaw == Flaw::no_bytes) return no_bytes_in_words(of);
  if (!of.reason.empty()) return on_one_line(of.reason);
  return flaw == Flaw::wrong_data ? "wrong data" : "no reason recorded";
}

std::string no_bytes_in_words(const Case& of) {
  std::vector<std::string> rates;
  for (const auto& [name, metric] : of.metrics) {
    const auto shown = shown_metric(of, name);
    if (shown.judged && shown.better == "higher") rates.push_back(name);
  }
  struct Silent {
    std::size_t empty = 0, all = 0;
  };
  std::map<std::pair<int, int>, Silent> pairs;
  for (const auto& record : of.launches) {
    bool known = false;
    bool empty = false;
    for (const auto& name : rates) {
      const auto samples = record.samples.find(name);
      if (samples == record.samples.end() || !samples->second.quantiles.p50) continue;
      known = true;
      empty = empty || *samples->second.quantiles.p50 == 0;
    }
    auto& launches = pairs[{record.src, record.dst}];
    launches.all += known ? 1 : 0;
    launches.empty += empty ? 1 : 0;
  }
  std::erase_if(pairs, [](const auto& entry) { return entry.second.empty == 0; });
  if (pairs.empty()) return "";
  const auto& [ranks, launches] =
      *std::ranges::max_element(pairs, {}, [](const auto& entry) { return entry.second.empty; });
  return fmt::format(
      "{} moved nothing in {} of {}{}",
      is_workload(of) ? "the ranks" : fmt::format("{}->{}", ranks.first, ranks.second),
      launches.empty, counted(launches.all, "launch", "launches"),
      pairs.size() > 1 ? fmt::format(" ({} such pairs)", pairs.size()) : "");
}

std::vector<std::pair<int, int>> pairs_without_figure(const Case& of) {
  std::vector<std::pair<int, int>> without;
  if (!is_matrix(of) || of.state != CaseState::measured) return without;
  std::set<std::pair<double, double>> with;
  for (const auto& pair : of.pairs) {
    if (!number_at(pair, "p50_GBps")) continue;
    with.emplace(number_at(pair, "src").value_or(-1), number_at(pair, "dst").value_or(-1));
  }
  const auto ranks = static_cast<int>(ranks_of(of));
  for (int src = 0; src < ranks; ++src) {
    for (int dst = 0; dst < ranks; ++dst) {
      if (src != dst && !with.contains({src, dst})) without.emplace_back(src, dst);
    }
  }
  return without;
}

std::string missing_pairs_in_words(const Case& of) {
  const auto without = pairs_without_figure(of);
  if (without.empty()) return "";
  const auto ranks = static_cast<std::size_t>(ranks_of(of));
  return fmt::format("no figure of {}->{} ({} of {} pairs)", without.front().first,
                     without.front().second, without.size(), ranks * (ranks - 1));
}

void drop_figures(Case& failed) {
  failed.metrics.clear();
  failed.pairs = failed.phases = failed.limits = failed.links = Json::array();
  failed.exchange = failed.sweep = Json::object();
}

void fail_cases_of_older(Result& run) {
  for (auto& of : run.cases) {
    if (of.verified.errors == 0 || of.state != CaseState::measured) continue;
    of.state = CaseState::failed;
    of.reason =
        fmt::format("{} of {} checks found wrong data", of.verified.errors, of.verified.checked);
  }
  for (auto& of : run.cases) {
    if (has_failed(of)) drop_figures(of);
  }
}

}  // namespace ucxbench
