#include <fmt/format.h>
#include <fmt/ranges.h>

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
                    rank.cpus.empty() ? unknown_cell : format_list(rank.cpus),
                    nic_in_words(advice.graph, rank),
                    rank.net_devices.empty() ? no_cell : on_one_line(rank.net_devices)});
  }
  return left_aligned(rows);
}

std::string common_table(const Advice& advice) {
  TextRows rows = {{"all ranks", "value"}};
  for (const auto& [name, value] : advice.ucx) rows.push_back({name, value});
  const auto devices = visible_devices(advice);
  if (!devices.empty()) rows.push_back({"CUDA_VISIBLE_DEVICES", devices});
  if (advice.pool_bytes) rows.push_back({"pool of GPU memory", spaced_size(*advice.pool_bytes)});
  return rows.size() == 1 ? "" : left_aligned(rows, true);
}

std::string findings_tables(const Advice& advice) {
  TextRows ended = {{"setting", "fixes", "of", "which is"}};
  TextRows others = {{"not fixable by settings", "of", "what to do"}};
  for (const auto& [rule, subject, evidence, setting, next] : advice.settings) {
    if (setting.empty()) {
      others.push_back({rule, on_one_line(subject), on_one_line(next)});
    } else {
      ended.push_back({on_one_line(setting), rule, on_one_line(subject), on_one_line(evidence)});
    }
  }
  return (ended.size() > 1 ? left_aligned(ended, true) : "") +
         (others.size() > 1 ? left_aligned(others, true) : "");
}

std::string reach_in_words(const PickedGpus& picked) {
  const auto& [route, per_gpu_GBps, limits] = picked.reach;
  if (per_gpu_GBps == 0) return unknown_cell;
  const auto& by = limits.resources[*limits.bottleneck];
  return fmt::format("{}{} GB/s each, by {}; limited by {}: {}",
                     picked.complete() ? "" : "<= ", significant(per_gpu_GBps, 4), route,
                     on_one_line(by.name), on_one_line(by.source));
}

std::vector<std::string> names_of_gpus(const Graph& graph, const std::vector<std::size_t>& gpus) {
  std::vector<std::string> names;
  for (const auto gpu : gpus) names.push_back(on_one_line(graph.nodes[gpu].name));
  return names;
}

std::string pick_text(const Graph& graph, const Pick& pick) {
  const auto row = [&](const PickedGpus& picked, const std::string& what) {
    return std::vector{what, fmt::format("{}", fmt::join(names_of_gpus(graph, picked.gpus), " ")),
                       reach_in_words(picked)};
  };
  auto text = left_aligned({{"choice", "GPUs, neighbours with wide links", "each to every other"},
                            row(pick.best, pick.exhaustive ? "best" : "best found"),
                            row(pick.naive, "the first")},
                           true);
  const auto best = pick.best.reach.per_gpu_GBps;
  const auto naive = pick.naive.reach.per_gpu_GBps;
  const bool known = naive > 0 && pick.best.complete() && pick.naive.complete();
  if (!known || best < 1.01 * naive) return text;
  return text + fmt::format("  all-to-all is {:.2f} x slower on {}\n\n", best / naive,
                            fmt::join(names_of_gpus(graph, pick.naive.gpus), ", "));
}

}  // namespace

std::string advice_text(const Advice& advice, const std::optional<Pick>& pick) {
  auto text = fmt::format("advice for {}{}, topology {}\n\n", counted(advice.ranks.size(), "rank"),
                          advice.host.empty() ? "" : " on " + on_one_line(advice.host),
                          hash_of(advice.graph));
  for (const auto& answer : advice.answers) text += fmt::format("  {}\n", on_one_line(answer));
  if (!advice.answers.empty()) text += "\n";
  if (pick) text += pick_text(advice.graph, *pick);
  text += ranks_table(advice) + common_table(advice) + findings_tables(advice);
  for (const auto& [path_class, pairs, p50_GBps] : advice.classes) {
    text +=
        fmt::format("  {} {} GB/s, median of {} ({})\n", path_class.empty() ? "pairs" : path_class,
                    significant(p50_GBps, 4), counted(pairs, "pair"), on_one_line(advice.measured));
  }
  if (advice.elsewhere > 0) {
    text += fmt::format("  {} of other hosts: run ucx-bench advise there\n",
                        counted(advice.elsewhere, "rank"));
  }
  text.erase(text.find_last_not_of('\n') + 1);
  return text + "\n";
}

}  // namespace ucxbench
