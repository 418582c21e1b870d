// Advice as other programs read it. Names of devices come from files that others made
// (settings_text.hpp).

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "harness/core/failure.hpp"
#include "harness/core/text.hpp"
#include "harness/core/units.hpp"
#include "harness/report/advice.hpp"
#include "harness/report/settings_text.hpp"
#include "harness/report/text.hpp"

namespace ucxbench {
namespace {

std::string origin_of(const Advice& advice) {
  return fmt::format("of topology {}{}", hash_of(advice.graph),
                     advice.host.empty() ? "" : ", host " + on_one_line(advice.host));
}

/// "GPU3" → 3.
std::optional<int> number_of_gpu(const Advice& advice, const AdvisedRank& rank) {
  if (!rank.gpu) return std::nullopt;
  const auto& name = advice.graph.nodes[*rank.gpu].name;
  try {
    const auto numbers = parse_list(name.starts_with("GPU") ? name.substr(3) : "");
    return numbers.size() == 1 ? std::optional(numbers.front()) : std::nullopt;
  } catch (const Failure&) {
    return std::nullopt;
  }
}

const std::vector<int>& known_cpus(const Advice& advice, const AdvisedRank& rank,
                                   const char* format) {
  if (!rank.cpus.empty()) return rank.cpus;
  if (!advice.labels.empty()) {
    throw Failure(
        Exit::usage,
        fmt::format("--format {}: every case of the run is labelled {}, so it advises "
                    "nothing; give the --topology FILE alone to place ranks by the wiring",
                    format, fmt::join(advice.labels, ", ")));
  }
  throw Failure(Exit::usage,
                fmt::format("--format {}: the topology does not say which CPUs are near to rank "
                            "{}'s GPU or memory; take --format env",
                            format, rank.rank));
}

std::string mask_of(const std::vector<int>& cpus) {
  std::string digits(static_cast<std::size_t>(cpus.back()) / 4 + 1, '0');
  for (const int cpu : cpus) {
    auto& digit = digits[digits.size() - 1 - static_cast<std::size_t>(cpu) / 4];
    const int value = (digit <= '9' ? digit - '0' : digit - 'a' + 10) | 1 << cpu % 4;
    digit = "0123456789abcdef"[value];
  }
  return "0x" + digits;
}

/// Empty where the ranks have different ones.
std::string common_net_devices(const Advice& advice) {
  std::set<std::string> all;
  for (const auto& rank : advice.ranks) all.insert(rank.net_devices);
  return all.size() == 1 ? *all.begin() : "";
}

/// AMD's GPUs have other variables than CUDA's.
bool has_cuda_gpus(const Advice& advice) {
  return std::ranges::any_of(advice.ranks, [&](const auto& rank) {
    return rank.gpu && advice.graph.nodes[*rank.gpu].vendor != "AMD";
  });
}

std::string comments(const std::vector<std::string>& texts, const std::string& indent = "") {
  std::string lines;
  for (const auto& text : texts) lines += indent + "# " + on_one_line(text) + "\n";
  return lines;
}

std::string dask_environment(const Advice& advice) {
  std::string lines;
  const auto devices = common_net_devices(advice);
  if (!devices.empty() && advice.hosts > 1) {
    lines += fmt::format("    net-devices: {}\n", for_yaml(devices));
  }
  lines += dask_lines(advice.ucx());
  return lines.empty() ? "  environment: {}\n" : "  environment:\n" + lines;
}

/// Dask has one for all pairs of workers, most of which are on two hosts: what pairs of one host
/// have is only a comment.
std::string dask_bandwidth(const Advice& advice, const std::string& bandwidths) {
  if (advice.classes.empty()) return "";
  const auto network = network_GBps(advice);
  std::vector<std::string> texts = {
      network ? "bytes/s, the median of the pairs between hosts, in " + advice.measured
              : "no bandwidth: none was measured between hosts; in " + advice.measured};
  for (const auto& of : advice.classes) {
    texts.push_back(fmt::format("{}: {} GB/s, median of {}", in_words(of),
                                significant(of.p50_GBps, 4), counted(of.pairs, "pair")));
  }
  if (!bandwidths.empty()) texts.push_back("each source and destination: " + bandwidths);
  if (!network) return comments(texts, "  ");
  return fmt::format("  scheduler:\n{}    bandwidth: {:.0f}\n", comments(texts, "    "),
                     *network * 1e9);
}

std::string dask_workers(const Advice& advice) {
  const bool in_file = !common_net_devices(advice).empty() && advice.hosts > 1;
  if (in_file || !advice.names_nics()) return "";
  std::string text =
      "# The adapter of each worker, by the wiring: start it with its own in its environment,\n"
      "# which goes before this file.\n";
  for (const auto& rank : advice.ranks) {
    text += fmt::format("#   {}: UCX_NET_DEVICES={}\n",
                        rank.gpu ? on_one_line(advice.graph.nodes[*rank.gpu].name)
                                 : fmt::format("rank {}", rank.rank),
                        on_one_line(rank.net_devices));
  }
  return text;
}

}  // namespace

std::string visible_devices(const Advice& advice) {
  std::vector<int> numbers;
  if (!has_cuda_gpus(advice)) return "";
  for (const auto& rank : advice.ranks) {
    const auto number = number_of_gpu(advice, rank);
    if (!number || std::ranges::find(numbers, *number) != numbers.end()) return "";
    numbers.push_back(*number);
  }
  const bool all = numbers.size() == advice.graph.of_kind(NodeKind::gpu).size();
  if (all && std::ranges::is_sorted(numbers)) return "";
  return fmt::format("{}", fmt::join(numbers, ","));
}

std::string advice_env(const Advice& advice) {
  auto text = fmt::format(
      "# UCX settings and CPUs of each rank, by ucx-bench advise, {}.\n"
      "# mpirun --bind-to none … sh -c '. ./THIS_FILE; exec PROGRAM', or srun --cpu-bind=none …\n",
      origin_of(advice));
  text += comments(said_beside(advice)) + export_lines(advice.ucx());
  const auto devices = visible_devices(advice);
  if (!devices.empty()) {
    text += fmt::format(
        "export CUDA_DEVICE_ORDER=PCI_BUS_ID CUDA_VISIBLE_DEVICES={}  # local rank 0's GPU first\n",
        devices);
  }
  // PMIX_RANK counts the ranks of all hosts.
  const bool one_host = advice.hosts < 2;
  text += fmt::format(
      "advised_cpus=\n"
      "case \"${{OMPI_COMM_WORLD_LOCAL_RANK:-${{SLURM_LOCALID:-{}}}}}\" in\n",
      one_host ? "${PMIX_RANK:-}" : "");
  for (std::size_t local = 0; local < advice.ranks.size(); ++local) {
    const auto& rank = advice.ranks[local];
    std::vector<std::string> remarks;
    if (rank.rank != static_cast<int>(local)) remarks.push_back(fmt::format("rank {}", rank.rank));
    if (rank.gpu) remarks.push_back(on_one_line(advice.graph.nodes[*rank.gpu].name));
    text += fmt::format("  {}){}{}\n", local, remarks.empty() ? "" : "  # ", join(remarks, ", "));
    if (!rank.net_devices.empty()) {
      text += fmt::format("    export UCX_NET_DEVICES={}\n", for_shell(rank.net_devices));
    }
    if (!rank.cpus.empty()) text += fmt::format("    advised_cpus={}\n", format_list(rank.cpus));
    text += "    ;;\n";
  }
  return text +
         fmt::format("  *) echo 'no advice for this rank: {} say none that there is' >&2 ;;\n",
                     one_host ? "OMPI_COMM_WORLD_LOCAL_RANK, SLURM_LOCALID and PMIX_RANK"
                              : "OMPI_COMM_WORLD_LOCAL_RANK and SLURM_LOCALID") +
         "esac\n"
         "if [ -n \"$advised_cpus\" ]; then taskset -p -c \"$advised_cpus\" $$ >/dev/null; fi\n";
}

std::string advice_dask(const Advice& advice, const std::string& bandwidths) {
  auto text = fmt::format(
      "# For Dask with distributed-ucxx, by ucx-bench advise, {}.\n"
      "# Put it into ~/.config/dask/.{}\n",
      origin_of(advice),
      has_cuda_gpus(advice) ? " dask-cuda gives each worker the CPUs near to its GPU." : "");
  text += comments(said_beside(advice));
  const auto devices = visible_devices(advice);
  if (!devices.empty()) {
    text += fmt::format("# CUDA_DEVICE_ORDER=PCI_BUS_ID CUDA_VISIBLE_DEVICES={}\n", devices);
  }
  const auto* pool = advice.of(Lever::pool);
  const bool advised = pool != nullptr && pool->why_not == WhyNot::nothing;
  text += fmt::format(
      "distributed-ucxx:\n"
      "  # Each of these replaces UCX_TLS by a list without shared memory; null leaves it to UCX.\n"
      "  tcp: null\n"
      "  nvlink: null\n"
      "  infiniband: null\n"
      "  create-cuda-context: {}\n"
      "{}"
      "  rmm:\n    pool-size: {}\n"
      "distributed:\n",
      has_cuda_gpus(advice) ? "true" : "false", dask_environment(advice),
      advised ? for_yaml(pool->value) : "null");
  return text + dask_bandwidth(advice, bandwidths) +
         "  worker:\n    multiprocessing-method: forkserver\n" + dask_workers(advice);
}

std::string advice_rankfile(const Advice& advice) {
  auto text = fmt::format(
      "# Open MPI 4, by ucx-bench advise, {}. CPUs have the operating system's numbers:\n"
      "# mpirun --mca rmaps_rank_file_physical 1 --use-hwthread-cpus --rankfile THIS_FILE …\n",
      origin_of(advice));
  text += comments(said_beside(advice));
  const auto host = advice.host.empty() ? "localhost" : on_one_line(advice.host);
  for (const auto& rank : advice.ranks) {
    text += fmt::format("rank {}={} slot={}\n", rank.rank, host,
                        format_list(known_cpus(advice, rank, "rankfile")));
  }
  return text;
}

std::string advice_srun(const Advice& advice) {
  std::vector<std::string> masks;
  for (const auto& rank : advice.ranks) masks.push_back(mask_of(known_cpus(advice, rank, "srun")));
  return fmt::format("--ntasks-per-node={} --cpu-bind=mask_cpu:{}\n", masks.size(),
                     fmt::join(masks, ","));
}

Json advice_json(const Advice& advice) {
  const auto name_at = [&](const std::optional<std::size_t>& node) {
    return node ? Json(advice.graph.nodes[*node].name) : Json();
  };
  Json ranks = Json::array();
  for (const auto& rank : advice.ranks) {
    ranks.push_back({{"rank", rank.rank},
                     {"gpu", name_at(rank.gpu)},
                     {"nic", name_at(rank.nic)},
                     {"cpus", rank.cpus},
                     {"net_devices", text_or_null(rank.net_devices)}});
  }
  Json settings = Json::array();
  const auto of_gain = [](const std::optional<Gain>& gain) {
    if (!gain) return Json();
    Json entry = {{"case", gain->of},
                  {"against", gain->against},
                  {"times", gain->times},
                  {"interval", gain->interval}};
    if (gain->pair) entry["pair"] = *gain->pair;
    return entry;
  };
  for (const auto& [lever, value, why_not, gain, loss] : advice.decisions) {
    Json entry = {{"setting", name_of(levers, lever)},
                  {"value", text_or_null(value)},
                  {"why_not", text_or_null(std::string(name_of(reasons_why_not, why_not)))},
                  {"gain", of_gain(gain)},
                  {"loss", of_gain(loss)},
                  {"measure_with", measured_with(advice, lever)}};
    settings.push_back(std::move(entry));
  }
  Json findings = Json::array();
  for (const auto& [rule, subject, evidence, setting, next] : advice.settings) {
    findings.push_back({{"id", rule}, {"subject", subject}, {"setting", text_or_null(setting)}});
  }
  Json spoiled = Json::array();
  for (const auto& of : advice.spoiled) {
    spoiled.push_back(
        {{"set", of.set}, {"why", of.reason()}, {"case", of.key}, {"evidence", of.evidence}});
  }
  Json bandwidths = Json::array();
  for (const auto& [path_class, pairs, p50_GBps, between_hosts, memory, interval] :
       advice.classes) {
    bandwidths.push_back({{"class", text_or_null(path_class)},
                          {"between_hosts", between_hosts},
                          {"memory", text_or_null(memory)},
                          {"pairs", pairs},
                          {"p50_GBps", p50_GBps},
                          {"interval", to_json(interval)},
                          {"case", advice.measured}});
  }
  return {{"host", text_or_null(advice.host)},
          {"hosts", advice.hosts},
          {"labels", advice.labels},
          {"spoiled_sets", spoiled},
          {"ranks", ranks},
          {"settings", settings},
          {"findings", findings},
          {"bandwidths", bandwidths},
          {"remarks", remarks_on(advice)}};
}

AdviceText rendered(AdviceFormat format, const Advice& advice, const std::optional<Pick>& pick,
                    const std::string& bandwidths) {
  switch (format) {
    case AdviceFormat::env:
      return {advice_env(advice)};
    case AdviceFormat::dask:
      return {advice_dask(advice, bandwidths)};
    case AdviceFormat::rankfile:
      return {advice_rankfile(advice)};
    case AdviceFormat::srun:
      return {advice_srun(advice), said_beside(advice)};
    case AdviceFormat::json:
      return {to_text(advice_json(advice)) + "\n"};
    case AdviceFormat::text:
      break;
  }
  return {advice_text(advice, pick)};
}

}  // namespace ucxbench
