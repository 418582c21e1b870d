#include "bench/copies/table.hpp"

#include <fmt/format.h>

#include "harness/core/units.hpp"
#include "harness/report/text.hpp"

namespace ucxbench::copies {
namespace {

std::string rate(const std::optional<double>& GBps) { return significant(GBps, 3); }

std::string node_text(const std::optional<int>& node) {
  return node ? fmt::format("{}", *node) : unknown_cell;
}

std::string matrix_of(const Copies& copies) {
  TextRows rows(1, {""});
  for (const auto& gpu : copies.gpus) rows.front().push_back(fmt::format("GPU {}", gpu.index));
  for (std::size_t at = 0; at < copies.between.size(); ++at) {
    const auto& one = copies.between[at];
    if (at % copies.gpus.size() == 0) rows.push_back({fmt::format("GPU {}", one.from)});
    rows.back().push_back(rate(one.GBps) + (one.direct ? "" : " (via host)"));
  }
  return left_aligned(rows, true);
}

}  // namespace

std::string table_of(const Copies& copies) {
  std::string text;
  for (const auto& gpu : copies.gpus) {
    text += fmt::format("GPU {}: {}, {}\n", gpu.index, on_one_line(gpu.name), gpu.pci);
  }
  if (copies.emulated) text += "emulated: the figures below are not those of a GPU\n";
  text += fmt::format("\nhost and GPU, GB/s; {} per copy\n", spaced_size(copies.asked.bytes));
  TextRows rows = {{"GPU", "NUMA node", "to GPU", "to host", "both ways", "link peak, each way"}};
  for (const auto& one : copies.host) {
    const auto link =
        one.link_GBps ? fmt::format("{} ({})", rate(one.link_GBps), on_one_line(one.link_source))
                      : unknown_cell;
    rows.push_back({fmt::format("{}", one.gpu), node_text(one.node), rate(one.to_gpu_GBps),
                    rate(one.to_host_GBps), rate(one.both_ways_GBps), link});
  }
  text += left_aligned(rows, true);
  text += "GPU to GPU, GB/s, from (row) to (column)\n";
  return text + matrix_of(copies);
}

Json to_json(const Copies& copies) {
  Json json = {{"bytes", copies.asked.bytes}, {"copies", copies.asked.copies},
               {"emulated", copies.emulated}, {"gpus", Json::array()},
               {"host", Json::array()},       {"between", Json::array()}};
  for (const auto& gpu : copies.gpus) {
    json["gpus"].push_back({{"index", gpu.index}, {"name", gpu.name}, {"pci", gpu.pci}});
  }
  for (const auto& one : copies.host) {
    json["host"].push_back({{"gpu", one.gpu},
                            {"numa_node", number_or_null(one.node)},
                            {"to_gpu_GBps", one.to_gpu_GBps},
                            {"to_host_GBps", one.to_host_GBps},
                            {"both_ways_GBps", one.both_ways_GBps},
                            {"link_GBps", number_or_null(one.link_GBps)},
                            {"link_source", one.link_source}});
  }
  for (const auto& one : copies.between) {
    json["between"].push_back(
        {{"from", one.from}, {"to", one.to}, {"GBps", one.GBps}, {"direct", one.direct}});
  }
  return json;
}

}  // namespace ucxbench::copies
