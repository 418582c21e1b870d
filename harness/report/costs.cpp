// What was paid, what carried the messages, what was verified, where it ran.

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "harness/analysis/findings.hpp"
#include "harness/core/statistics.hpp"
#include "harness/core/units.hpp"
#include "harness/report/first_messages.hpp"
#include "harness/report/interval_text.hpp"
#include "harness/report/matrix_view.hpp"
#include "harness/report/view.hpp"
#include "harness/report/workload_view.hpp"
#include "harness/result/cases.hpp"
#include "harness/result/labels.hpp"
#include "harness/result/media.hpp"
#include "harness/result/paths.hpp"
#include "harness/result/ucx_of_ranks.hpp"
#include "harness/result/words.hpp"

namespace ucxbench {
namespace {

/// The median over every launch and case of one value per record, if there is any.
template <typename Pick>
std::optional<double> median_over(const std::vector<const Case*>& cases, Pick pick) {
  std::vector<double> values;
  for (const auto* of : cases) {
    for (const auto& record : of->launches) {
      if (const std::optional<double> value = pick(record)) values.push_back(*value);
    }
  }
  return values.empty() ? std::nullopt : std::optional(median(std::move(values)));
}

/// The same value's interval over launches.
template <typename Pick>
std::optional<Interval> interval_over(const std::vector<const Case*>& cases, Pick pick) {
  std::map<int, std::vector<double>> by_launch;
  for (const auto* of : cases) {
    for (const auto& record : of->launches) {
      if (const std::optional<double> value = pick(record)) {
        by_launch[record.launch].push_back(*value);
      }
    }
  }
  std::vector<double> medians;
  for (auto& [launch, values] : by_launch) medians.push_back(median(std::move(values)));
  return ucxbench::interval_over(std::move(medians));
}

std::optional<double> overhead(const LaunchRecord& record, const std::string& name) {
  const auto found = record.overheads.find(name);
  return found == record.overheads.end() ? std::nullopt : std::optional(found->second);
}

std::string cold_of(const Block& block) {
  std::vector<std::string> parts;
  const auto add = [&](const std::string& name, const std::vector<const Case*>& cases,
                       std::optional<double> Cold::* field) {
    const auto pick = [&](const LaunchRecord& record) { return record.cold.*field; };
    const auto value = median_over(cases, pick);
    if (!value) return;
    parts.push_back(name + " " + readable_us(*value) +
                    time_interval_behind(interval_over(cases, pick)));
  };
  add("context", block.measured, &Cold::context_us);
  add("connect", block.measured, &Cold::connect_us);
  const auto* first = block.measured.front();
  add("first message of " + size_of(*first), {first}, &Cold::first_message_us);
  return join(parts, ", ");
}

std::string carrier_of(const Case& of) {
  const auto who = carriers_in_words(of.path);
  if (who.empty()) return "unknown: " + text_at(of.path, "/why", "nothing is known");
  const auto verdict = verdict_in(of.path);
  if (verdict == PathVerdict::as_asked) return who;
  return who +
         (verdict == PathVerdict::partly ? ": only partly what was asked" : ": not what was asked");
}

// "shm (8 B to 4 KiB), tcp (8 KiB to 64 MiB)": sizes that follow each other and went the same way.
std::string carriers_of(const Block& block) {
  std::vector<std::pair<std::string, std::pair<const Case*, const Case*>>> runs;
  for (const auto* of : block.measured) {
    if (!of->path.contains("carried_by") && !has_label(of->path, Label::interrupted)) {
      if (is_workload(*of)) continue;  // one rank alone
      return "";
    }
    const auto who = carrier_of(*of);
    if (runs.empty() || runs.back().first != who) runs.push_back({who, {of, of}});
    runs.back().second.second = of;
  }
  if (runs.empty()) return "";
  if (runs.size() == 1) return runs.front().first;
  std::vector<std::string> parts;
  for (const auto& [who, ends] : runs) {
    const auto [first, last] = ends;
    parts.push_back(fmt::format("{} ({}{})", who, size_of(*first),
                                first == last ? "" : " to " + size_of(*last)));
  }
  return join(parts, ", ");
}

std::string measuring_of(const Block& block) {
  std::vector<std::string> parts;
  const auto of_stamp = [](const LaunchRecord& record) { return overhead(record, "timestamp_ns"); };
  if (const auto stamp = median_over(block.measured, of_stamp)) {
    parts.push_back(significant(*stamp, 2) + " ns per iteration" +
                    interval_behind(interval_over(block.measured, of_stamp), 2));
  }
  if (const auto ratio = median_over(block.measured, timed_over_untimed)) {
    parts.push_back(
        fmt::format("timed loop {:.3f} x the untimed{}", *ratio,
                    interval_behind(interval_over(block.measured, timed_over_untimed), 4)));
  }
  return join(parts, ", ");
}

/// The median pair of two hosts, and of one, where a case has both; or of two hosts alone.
std::string between_hosts(const Case& of) {
  std::vector<double> between;
  std::vector<double> within;
  for (const auto& pair : of.pairs) {
    const auto rate = number_at(pair, "p50_GBps");
    const auto path_class = text_at(pair, "/class", "");
    const bool apart = path_class == "NET" || path_class == "MNNVL";
    if (rate) (apart ? between : within).push_back(*rate);
  }
  if (between.empty()) return "";
  const auto said = [](const std::vector<double>& rates) {
    const auto [low, high] = std::ranges::minmax(rates);
    return fmt::format("{} GB/s, the median of {} ({}..{})", significant(median(rates), 3),
                       counted(rates.size(), "pair"), significant(low, 3), significant(high, 3));
  };
  return said(between) + (within.empty() ? "" : "; within one host " + said(within)) +
         (is_matrix(of) ? fmt::format(" ({})", matrix_title(of)) : "");
}

std::string canaries_of(const Result& result) {
  std::vector<std::string> parts;
  for (const auto& of : result.cases) {
    if (!is_canary(of)) continue;
    for (const auto& [name, metric] : of.metrics) {
      parts.push_back(fmt::format("{} {} {}{}", on_one_line(of.key.substr(of.key.find('/') + 1)),
                                  significant(metric.quantiles.p50, 4), shown_metric(of, name).unit,
                                  interval_behind(interval_of(metric), 4)));
    }
  }
  return join(parts, ", ");
}

}  // namespace

std::vector<std::pair<std::string, std::string>> costs_of(const Block& block) {
  Verified all;
  for (const auto* of : block.cases) {
    all.checked += of->verified.checked;
    all.errors += of->verified.errors;
  }
  const auto verified =
      fmt::format("{}/{} {}", all.checked - all.errors, all.checked,
                  block.kind() == ViewKind::workload ? "runs of a rank" : "messages");
  std::vector<std::pair<std::string, std::string>> costs;
  if (block.measured.empty()) {
    if (all.checked > 0) costs.emplace_back("verified", verified);
    return costs;
  }
  if (const auto by = carriers_of(block); !by.empty()) costs.emplace_back("transport used", by);
  std::vector<std::string> labels;
  for (const auto* of : block.measured) {
    for (const auto& label : of->labels) add_once(labels, on_one_line(label));
  }
  if (!labels.empty()) costs.emplace_back("labels", join(labels, ", "));
  if (const auto cold = cold_of(block); !cold.empty()) costs.emplace_back("cold cost", cold);
  if (const auto pays = pool_pays(block); !pays.empty())
    costs.emplace_back("pool break-even", pays);
  if (const auto cost = measuring_of(block); !cost.empty())
    costs.emplace_back("timer overhead", cost);
  const bool ended = std::ranges::any_of(
      block.measured, [](const Case* of) { return has_label(*of, Label::interrupted); });
  costs.emplace_back("verified", all.checked == 0 ? (ended ? "nothing (the run was ended before)"
                                                           : "nothing (--check off)")
                                                  : verified);
  for (const auto* of : block.measured) {
    if (block.kind() != ViewKind::matrix) break;
    if (const auto apart = asymmetry_of(*of); !apart.empty())
      costs.emplace_back("both ways", apart);
  }
  for (const auto* of : block.measured) {
    if (const auto rates = between_hosts(*of); !rates.empty()) {
      costs.emplace_back("between hosts", rates);
    }
  }
  if (block.kind() == ViewKind::workload && has_efficiency(block)) {
    costs.emplace_back("efficiency",
                       "throughput per rank against the fewest ranks; data that no longer fit into "
                       "caches lower it, too: not all of a loss is communication");
  }
  if (block.kind() == ViewKind::workload) {
    const auto& last = *block.measured.back();
    for (auto& [name, text] : exchange_of(last)) {
      costs.emplace_back(name, (block.measured.size() > 1 ? row_of(last) + ": " : "") + text);
    }
  }
  return costs;
}

namespace {

void add_transports(const Json& transports,
                    std::vector<std::pair<std::string, std::string>>& lines) {
  std::vector<std::string> usable;
  std::vector<std::string> others;
  for (const auto& [name, why] : transports.items()) {
    if (why.is_null()) usable.push_back(name);
    if (why.is_string()) others.push_back(why.get<std::string>());
  }
  if (!usable.empty()) lines.emplace_back("transports", join(usable, ", "));
  for (const auto& other : others) lines.emplace_back("not available", other);
}

/// A line per kind of host: equal ones are named together.
std::vector<std::string> hosts_of(const Result& result) {
  std::vector<std::pair<std::string, std::vector<std::string>>> kinds;
  for (const auto& host : result.machine.value("hosts", Json::array())) {
    const auto what = fmt::format("{}, cores {}, NUMA nodes {}, {}", text_at(host, "/cpu_model"),
                                  text_at(host, "/cores"), text_at(host, "/numa_nodes"),
                                  text_at(host, "/kernel"));
    auto same = std::ranges::find(kinds, what, [](const auto& kind) { return kind.first; });
    if (same == kinds.end()) same = kinds.insert(same, {what, {}});
    same->second.push_back(text_at(host, "/name"));
  }
  std::vector<std::string> lines;
  for (auto& [what, names] : kinds) {
    std::ranges::sort(names, [](const auto& a, const auto& b) {
      return std::pair(a.size(), a) < std::pair(b.size(), b);
    });
    lines.push_back(names.size() < 3 ? fmt::format("{}: {}", join(names, ", "), what)
                                     : fmt::format("{} hosts, {} to {}: {}", names.size(),
                                                   names.front(), names.back(), what));
  }
  return lines;
}

/// "0-3 on node0, 4-7 on node1"; empty where all are on one.
std::string ranks_of_hosts(const Result& result) {
  constexpr std::size_t most_named = 8;
  std::map<std::string, std::vector<int>> by_host;
  for (const auto& [rank, host] : hosts_of_ranks(result)) by_host[host].push_back(rank);
  if (by_host.size() < 2) return "";
  std::vector<std::pair<int, std::string>> texts;
  for (const auto& [host, ranks] : by_host) {
    texts.emplace_back(ranks.front(),
                       fmt::format("{} on {}", format_list(ranks), on_one_line(host)));
  }
  std::ranges::sort(texts);
  std::vector<std::string> parts;
  for (const auto& [first, text] : texts) parts.push_back(text);
  if (parts.size() > most_named) {
    parts[most_named] = fmt::format("and {} more hosts", parts.size() - most_named);
    parts.resize(most_named + 1);
  }
  return join(parts, ", ");
}

}  // namespace

std::vector<std::pair<std::string, std::string>> environment_of(const Result& result) {
  std::vector<std::pair<std::string, std::string>> lines;
  for (auto& host : hosts_of(result)) lines.emplace_back("machine", std::move(host));
  if (auto places = ranks_of_hosts(result); !places.empty()) {
    lines.emplace_back("ranks", std::move(places));
  }
  const auto labels = labels_of_machine(result);
  if (!labels.empty()) lines.emplace_back("labels", join(labels, ", "));
  std::vector<std::string> crowded;
  for (const auto& entry : result.run.value("crowded", Json::array())) {
    crowded.push_back(crowded_in_words(entry));
  }
  if (!crowded.empty()) lines.emplace_back("progress", join(crowded, ", "));
  if (auto canaries = canaries_of(result); !canaries.empty()) {
    lines.emplace_back("canary", std::move(canaries));
  }
  const bool dirty = result.build.value("dirty", Json(false)) == true;
  lines.emplace_back("software", fmt::format("ucx-bench {} (commit {}{}), UCX {}",
                                             text_at(result.build, "/version"),
                                             text_at(result.build, "/commit").substr(0, 12),
                                             dirty ? ", modified" : "", ucx_in_words(result)));
  if (has_figures(result)) lines.emplace_back("quality", in_words(quality_of(result)));
  // What was measured says it better.
  if (result.cases.empty()) add_transports(result.ucx.value("transports", Json::object()), lines);
  return lines;
}

}  // namespace ucxbench
