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
    const auto& pair = copies.between[at];
    if (at % copies.gpus.size() == 0) rows.push_back({fmt::format("GPU {}", pair.from)});
    rows.back().push_back(rate(pair.GBps) + (pair.direct ? "" : " (via host)"));
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
  text += fmt::format(
      "\nhost and GPU, GB/s; {} per copy; medians of {} samples of one run, without interval\n",
      spaced_size(copies.asked.bytes), samples);
  TextRows rows = {{"GPU", "NUMA node", "to GPU", "to host", "both ways", "link peak, each way"}};
  for (const auto& copy : copies.host) {
    const auto link =
        copy.link_GBps ? fmt::format("{} ({})", rate(copy.link_GBps), on_one_line(copy.link_source))
                       : unknown_cell;
    rows.push_back({fmt::format("{}", copy.gpu), node_text(copy.node), rate(copy.to_gpu_GBps),
                    rate(copy.to_host_GBps), rate(copy.both_ways_GBps), link});
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
  for (const auto& copy : copies.host) {
    json["host"].push_back({{"gpu", copy.gpu},
                            {"numa_node", number_or_null(copy.node)},
                            {"to_gpu_GBps", number_or_null(copy.to_gpu_GBps)},
                            {"to_host_GBps", number_or_null(copy.to_host_GBps)},
                            {"both_ways_GBps", number_or_null(copy.both_ways_GBps)},
                            {"link_GBps", number_or_null(copy.link_GBps)},
                            {"link_source", copy.link_source}});
  }
  for (const auto& pair : copies.between) {
    json["between"].push_back({{"from", pair.from},
                               {"to", pair.to},
                               {"GBps", number_or_null(pair.GBps)},
                               {"direct", pair.direct}});
  }
  return json;
}

}  // namespace ucxbench::copies
