#include "bench/copies/table.hpp"

#include <gtest/gtest.h>

namespace ucxbench::copies {
namespace {

Copies two_gpus() {
  Copies copies;
  copies.gpus = {{.index = 0, .name = "A", .pci = "0000:01:00.0"},
                 {.index = 3, .name = "B", .pci = "0000:41:00.0"}};
  copies.host = {{.gpu = 0,
                  .node = 0,
                  .to_gpu_GBps = 55.25,
                  .to_host_GBps = 54,
                  .both_ways_GBps = 98.7,
                  .link_GBps = 63,
                  .link_source = "PCIe 5.0"},
                 {.gpu = 3, .to_host_GBps = 11, .both_ways_GBps = 13}};
  copies.between = {{0, 0, 1500}, {0, 3, 370}, {3, 0, 21, false}, {3, 3, 1490}};
  return copies;
}

TEST(Table, HasARowForEachGpuAndNodeAndAMatrix) {
  EXPECT_EQ(table_of(two_gpus()),
            "GPU 0: A, 0000:01:00.0\n"
            "GPU 3: B, 0000:41:00.0\n"
            "\n"
            "host and GPU, GB/s; 64 MiB per copy; medians of 3 samples of one run, without "
            "interval\n"
            "  GPU  NUMA node  to GPU  to host  both ways  link peak, each way\n"
            "  0    0          55.2    54.0     98.7       63.0 (PCIe 5.0)\n"
            "  3    ?          -       11.0     13.0       ?\n"
            "\n"
            "GPU to GPU, GB/s, from (row) to (column)\n"
            "         GPU 0            GPU 3\n"
            "  GPU 0  1500             370\n"
            "  GPU 3  21.0 (via host)  1490\n"
            "\n");
}

TEST(Table, SaysWhatIsEmulated) {
  auto copies = two_gpus();
  copies.emulated = true;
  EXPECT_NE(table_of(copies).find("emulated: the figures below are not those of a GPU"),
            std::string::npos);
  EXPECT_TRUE(to_json(copies).at("emulated").get<bool>());
}

TEST(Json, HasNullForWhatIsNotKnown) {
  const auto json = to_json(two_gpus());
  EXPECT_EQ(json.at("host")[0].at("link_GBps"), 63);
  EXPECT_TRUE(json.at("host")[1].at("to_gpu_GBps").is_null());
  EXPECT_TRUE(json.at("host")[1].at("numa_node").is_null());
  EXPECT_TRUE(json.at("host")[1].at("link_GBps").is_null());
  EXPECT_FALSE(json.at("between")[2].at("direct").get<bool>());
}

}  // namespace
}  // namespace ucxbench::copies
