#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "harness/core/units.hpp"
#include "harness/report/advice.hpp"
#include "harness/report/text.hpp"
#include "harness/topology/path.hpp"

namespace ucxbench {
namespace {

std::string node_name(const Graph& graph, const std::optional<std::size_t>& node) {
  return node ? on_one_line(graph.nodes[*node].name) : no_cell;
}

std::string nic_in_words(const Graph& graph, const AdvisedRank& rank) {
  if (!rank.nic || !rank.gpu) return node_name(graph, rank.nic);
  return fmt::format("{} {}", to_string(class_between(graph, *rank.gpu, *rank.nic)),
                     node_name(graph, rank.nic));
}

std::string ranks_table(const Advice& advice) {
  TextRows rows = {{"rank", "GPU", "CPUs", "NIC", "UCX_NET_DEVICES"}};
  for (const auto& rank : advice.ranks) {
    rows.push_back({std::to_string(rank.rank), node_name(advice.graph, rank.gpu),
                    rank.cpus.empty() ? no_cell : format_list(rank.cpus),
                    nic_in_words(advice.graph, rank),
                    rank.net_devices.empty() ? no_cell : on_one_line(rank.net_devices)});
  }
  return left_aligned(rows);
}

std::string common_table(const Advice& advice) {
  const auto devices = visible_devices(advice);
  if (devices.empty()) return "";
  return left_aligned({{"all ranks", "value"}, {"CUDA_VISIBLE_DEVICES", devices}}, true);
}

/// Below "  title", one entry of several lines at most for each of them.
std::string entries(const std::string& title, const std::vector<std::string>& texts) {
  if (texts.empty()) return "";
  auto lines = "  " + title + "\n";
  for (const auto& text : texts) {
    lines += wrapped(text, "      ", page_width()).replace(0, 6, "    - ");
  }
  return lines + "\n";
}

std::string settings_lists(const Advice& advice) {
  std::vector<std::string> settings;
  std::map<std::string, std::vector<std::string>> reasons;
  const auto add = [&](const std::string& setting, const std::string& reason) {
    const auto name = on_one_line(setting);
    if (!reasons.contains(name)) settings.push_back(name);
    reasons[name].push_back(on_one_line(reason));
  };
  for (const auto& decision : advice.decisions) {
    if (decision.gain && !decision.value.empty()) {
      add(setting_of(decision), "measured: " + in_words(*decision.gain));
    }
  }
  std::vector<std::string> others;
  for (const auto& [rule, subject, evidence, setting, next] : advice.settings) {
    const auto about = fmt::format("{}, {}: ", rule, on_one_line(subject));
    if (setting.empty()) {
      others.push_back(about + on_one_line(next));
    } else {
      add(setting, about + evidence);
    }
  }
  std::string text;
  for (const auto& setting : settings) {
    const bool here = std::ranges::any_of(advice.decisions, [&](const Decision& decision) {
      return decision.why_not == WhyNot::one_host && setting_of(decision) == setting;
    });
    text += entries(setting + (here ? ", in a job on this host alone" : ""), reasons[setting]);
  }
  return text + entries("findings that no advised setting ends", others) +
         entries("what was not measured", remarks_on(advice));
}

std::string limit_in_words(const PickedGpus& picked) {
  const auto& limits = picked.reach.limits;
  const auto& by = limits.resources[*limits.bottleneck];
  return fmt::format("limited by {}: {}", on_one_line(by.name), on_one_line(by.source));
}

std::vector<std::string> names_of_gpus(const Graph& graph, const std::vector<std::size_t>& gpus) {
  std::vector<std::string> names;
  for (const auto gpu : gpus) names.push_back(on_one_line(graph.nodes[gpu].name));
  return names;
}

std::string pick_text(const Graph& graph, const Pick& pick) {
  const auto row = [&](const PickedGpus& picked, const std::string& what) {
    const auto known = picked.reach.per_gpu_GBps > 0;
    return std::vector{
        what, fmt::format("{}", fmt::join(names_of_gpus(graph, picked.gpus), " ")),
        known ? (picked.complete() ? "" : "<= ") + significant(picked.reach.per_gpu_GBps, 4)
              : unknown_cell,
        known ? std::string(picked.reach.route) : unknown_cell};
  };
  const bool same = std::ranges::is_permutation(pick.best.gpus, pick.naive.gpus);
  TextRows rows = {{"choice", "GPUs, neighbours with wide links", "all-to-all, GB/s each", "by"},
                   row(pick.best, pick.exhaustive ? "best" : "best found")};
  if (!same) rows.push_back(row(pick.naive, "the first"));
  auto text = left_aligned(rows, true);
  const auto best = pick.best.reach.per_gpu_GBps;
  const auto naive = pick.naive.reach.per_gpu_GBps;
  if (best > 0) text += wrapped(limit_in_words(pick.best), "  ", page_width());
  const auto count = pick.naive.gpus.size();
  if (same) {
    text += fmt::format("  the first {} GPUs are the best choice\n", count);
  } else if (naive > 0 && pick.best.complete() && pick.naive.complete()) {
    const auto first = fmt::format("{}", fmt::join(names_of_gpus(graph, pick.naive.gpus), ", "));
    text += wrapped(best < 1.01 * naive
                        ? fmt::format("all-to-all is as fast on the first {}: {}", count, first)
                        : fmt::format("all-to-all is {:.2f} x slower on {}", best / naive, first),
                    "  ", page_width());
  }
  return text + "\n";
}

}  // namespace

std::string advice_text(const Advice& advice, const std::optional<Pick>& pick) {
  auto text = fmt::format("advice for {}{}, topology {}\n\n", counted(advice.ranks.size(), "rank"),
                          advice.host.empty() ? "" : " on " + on_one_line(advice.host),
                          hash_of(advice.graph));
  for (const auto& answer : advice.answers) {
    text += wrapped(on_one_line(answer), "    ", page_width()).erase(0, 2);
  }
  if (!advice.answers.empty()) text += "\n";
  if (pick) text += pick_text(advice.graph, *pick);
  text += ranks_table(advice) + common_table(advice) + settings_lists(advice);
  for (const auto& of : advice.classes) {
    const auto how = advice.measured_how.empty() ? "" : "; " + on_one_line(advice.measured_how);
    text += wrapped(
        fmt::format("measured {}: {} GB/s{}, median of {} ({}{})", on_one_line(in_words(of)),
                    significant(of.p50_GBps, 4), interval_behind(of.interval, 4),
                    counted(of.pairs, "pair"), on_one_line(advice.measured), how),
        "  ", page_width());
  }
  text.erase(text.find_last_not_of('\n') + 1);
  return text + "\n";
}

}  // namespace ucxbench
