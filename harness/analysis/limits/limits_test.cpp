#include "harness/analysis/limits/limits.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>
#include <stdexcept>

#include "harness/topology/build.hpp"
#include "harness/topology/node_for_test.hpp"

namespace ucxbench {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double rounding = 1 + 1e-9;

/// GPUs below one PCIe switch of a NUMA node, each by a link of its own, and NICs.
struct Wiring {
  Graph graph = graph_of_host("test");
  std::size_t numa = add_node(graph, NodeKind::numa, "NUMA0");
  std::size_t bridge = add_node(graph, NodeKind::bridge, "bridge");

  Wiring() {
    attach_inside(graph, numa, 0);
    attach_pcie(graph, bridge, numa, Capacity{20, "uplink"}, "");
  }

  std::size_t below(NodeKind kind, const std::string& name, const std::optional<Capacity>& capacity,
                    std::size_t parent) {
    const auto node = add_node(graph, kind, name);
    attach_pcie(graph, node, parent, capacity, "speed unknown");
    return node;
  }
  std::size_t gpu(const std::string& name, double GBps) {
    return below(NodeKind::gpu, name, Capacity{GBps, name + "'s"}, bridge);
  }
  std::size_t nic(const std::string& name, double GBps) {
    const auto node = below(NodeKind::nic, name, Capacity{100, "wide"}, bridge);
    attach_cable(graph, node, Capacity{GBps, "cable"});
    return node;
  }
  void nvlink(std::size_t a, std::size_t b, int links) {
    const auto* generation = link_specification("NVLink 2");
    add_nvlinks(graph, a, {{b, links}}, generation);
    if (graph.nodes[b].kind == NodeKind::gpu) add_nvlinks(graph, b, {{a, links}}, generation);
  }
};

std::vector<double> shares_of(const std::vector<Flow>& flows, const Limits& limits) {
  std::vector<double> shares;
  for (const auto& share : fair_shares(flows, limits)) shares.push_back(share.value_or(nan));
  return shares;
}

TEST(Bound, IsTheBusiestResource) {
  Wiring wiring;
  const auto a = wiring.gpu("GPU0", 10);
  const auto b = wiring.gpu("GPU1", 4);
  const auto c = wiring.gpu("GPU2", 100);
  const auto limits = limits_of(wiring.graph, {{a, b, 6e9, {}}, {a, c, 5e9, {}}});
  // 11 GB out of GPU0 at 10 GB/s take 1.1 s; 6 GB into GPU1 at 4 GB/s take longer.
  EXPECT_DOUBLE_EQ(*limits.seconds, 1.5);
  const auto& by = limits.resources.at(*limits.bottleneck);
  EXPECT_EQ(by.name, "PCIe bridge -> GPU1");
  EXPECT_EQ(by.source, "GPU1's");
  EXPECT_DOUBLE_EQ(by.bytes, 6e9);
  EXPECT_TRUE(limits.unknown.empty());
  EXPECT_DOUBLE_EQ(*limits.flows[0].alone_GBps, 4);
  EXPECT_DOUBLE_EQ(*limits.flows[1].alone_GBps, 10);
  EXPECT_EQ(limits.resources.at(*limits.flows[1].alone_by).name, "PCIe GPU0 -> bridge");
}

TEST(Bound, CountsEachDirectionApart) {
  Wiring wiring;
  const auto a = wiring.gpu("GPU0", 10);
  const auto b = wiring.gpu("GPU1", 10);
  const std::vector<Flow> flows = {{a, b, 1e10, {}}, {b, a, 1e10, {}}};
  const auto limits = limits_of(wiring.graph, flows);
  EXPECT_DOUBLE_EQ(*limits.seconds, 1);
  EXPECT_EQ(shares_of(flows, limits), (std::vector<double>{10, 10}));
}

TEST(Bound, IsUnknownWhereNothingMovesOrCrossesALink) {
  Wiring wiring;
  const auto a = wiring.gpu("GPU0", 10);
  const auto b = wiring.gpu("GPU1", 10);
  const auto none = limits_of(wiring.graph, {});
  EXPECT_FALSE(none.seconds);
  EXPECT_FALSE(none.bottleneck);
  EXPECT_TRUE(none.resources.empty());
  const std::vector<Flow> flows = {{a, b, 0, {}}, {a, a, 1e9, {}}};
  const auto idle = limits_of(wiring.graph, flows);
  EXPECT_FALSE(idle.seconds);
  EXPECT_DOUBLE_EQ(*idle.flows[0].alone_GBps, 10);
  EXPECT_FALSE(idle.flows[1].alone_GBps) << "to itself";
  EXPECT_EQ(fair_shares(flows, idle), (std::vector<std::optional<double>>(2)));
  EXPECT_TRUE(idle.flows[1].uses.empty());
}

TEST(Bound, RefusesWhatIsNoTraffic) {
  Wiring wiring;
  const auto a = wiring.gpu("GPU0", 10);
  EXPECT_THROW(limits_of(wiring.graph, {{a, 99, 1, {}}}), std::invalid_argument);
  EXPECT_THROW(limits_of(wiring.graph, {{a, 0, 1, {99}}}), std::invalid_argument);
  EXPECT_THROW(limits_of(wiring.graph, {{a, 0, -1, {}}}), std::invalid_argument);
  EXPECT_THROW(limits_of(wiring.graph, {{a, 0, nan, {}}}), std::invalid_argument);
}

// The textbook's: the first flow crosses both narrow links.
TEST(Shares, AreMaxMinFair) {
  Wiring wiring;
  const auto a = wiring.gpu("GPU0", 10);
  const auto b = wiring.gpu("GPU1", 4);
  const auto c = wiring.gpu("GPU2", 100);
  const auto d = wiring.gpu("GPU3", 100);
  const std::vector<Flow> flows = {{a, b, 1, {}}, {a, c, 1, {}}, {d, b, 1, {}}};
  EXPECT_EQ(shares_of(flows, limits_of(wiring.graph, flows)), (std::vector<double>{2, 8, 2}));
}

TEST(Shares, OfOneNicAreHalfEach) {
  Wiring wiring;
  const auto near = wiring.nic("mlx5_0", 12.5);
  std::vector<Flow> flows;
  for (const auto* number : {"0", "1"}) {
    const auto from = wiring.gpu(std::string("GPU") + number, 16);
    const auto to = wiring.gpu(std::string("far GPU") + number, 16);
    const auto far = wiring.nic(std::string("mlx5_1") + number, 12.5);
    flows.push_back({from, to, 1e9, {near, far}});
  }
  const auto limits = limits_of(wiring.graph, flows);
  EXPECT_EQ(shares_of(flows, limits), (std::vector<double>{6.25, 6.25}));
  EXPECT_EQ(limits.resources.at(*limits.bottleneck).name, "port mlx5_0 -> network");
  EXPECT_DOUBLE_EQ(*limits.seconds, 0.16);
  EXPECT_DOUBLE_EQ(*limits.flows[0].alone_GBps, 12.5);
}

TEST(Nvlinks, CarryWhatTheirNumberSays) {
  Wiring wiring;
  const auto a = wiring.gpu("GPU0", 10);
  const auto b = wiring.gpu("GPU1", 10);
  const auto c = wiring.gpu("GPU2", 10);
  wiring.nvlink(a, b, 1);
  wiring.nvlink(a, c, 2);
  const std::vector<Flow> flows = {{a, b, 1e9, {}}, {a, c, 1e9, {}}};
  const auto limits = limits_of(wiring.graph, flows);
  EXPECT_EQ(shares_of(flows, limits), (std::vector<double>{25, 50}));
  EXPECT_EQ(limits.resources.at(*limits.bottleneck).name, "NVLinks GPU0 -> GPU1");
}

TEST(Nvlinks, IntoSwitchesAreSharedByAllPeers) {
  Wiring wiring;
  std::vector<std::size_t> gpus;
  for (const auto* name : {"GPU0", "GPU1", "GPU2"}) {
    gpus.push_back(wiring.gpu(name, 10));
    // Two switches: one resource, since what lies between them is not visible.
    for (const auto* pci : {"0000:05:00.0", "0000:06:00.0"}) {
      wiring.nvlink(gpus.back(), switch_at(wiring.graph, pci), 3);
    }
  }
  const std::vector<Flow> flows = {{gpus[0], gpus[1], 1, {}}, {gpus[0], gpus[2], 1, {}}};
  const auto out = limits_of(wiring.graph, flows);
  EXPECT_EQ(shares_of(flows, out), (std::vector<double>{75, 75}));
  EXPECT_DOUBLE_EQ(*out.flows[0].alone_GBps, 150);
  EXPECT_EQ(out.resources.at(*out.bottleneck).name, "NVLinks GPU0 -> NVSwitches");
  const auto in = limits_of(wiring.graph, {{gpus[0], gpus[2], 1, {}}, {gpus[1], gpus[2], 1, {}}});
  EXPECT_EQ(in.resources.at(*in.bottleneck).name, "NVLinks NVSwitches -> GPU2");
}

TEST(Nvlinks, BesideSwitchesCarryTheirPart) {
  Wiring wiring;
  const auto a = wiring.gpu("GPU0", 10);
  const auto b = wiring.gpu("GPU1", 10);
  wiring.nvlink(a, b, 1);
  for (const auto gpu : {a, b}) wiring.nvlink(gpu, switch_at(wiring.graph, ""), 3);
  const auto limits = limits_of(wiring.graph, {{a, b, 4e9, {}}});
  EXPECT_DOUBLE_EQ(*limits.flows[0].alone_GBps, 100);
  EXPECT_DOUBLE_EQ(limits.resources[0].bytes, 1e9);
  EXPECT_DOUBLE_EQ(limits.resources[1].bytes, 3e9);
}

TEST(Unknown, IsNamedAndTheRestIsABound) {
  Wiring wiring;
  const auto a = wiring.gpu("GPU0", 10);
  const auto b = wiring.below(NodeKind::gpu, "GPU1", std::nullopt, wiring.bridge);
  const auto limits = limits_of(wiring.graph, {{a, b, 1e10, {}}});
  EXPECT_DOUBLE_EQ(*limits.seconds, 1);
  ASSERT_EQ(limits.unknown.size(), 1U);
  const auto& unknown = limits.resources.at(limits.unknown.front());
  EXPECT_EQ(unknown.name, "PCIe bridge -> GPU1");
  EXPECT_EQ(unknown.source, "speed unknown");
  EXPECT_FALSE(unknown.seconds());
  EXPECT_FALSE(limits.flows[0].complete);
  EXPECT_DOUBLE_EQ(*limits.flows[0].alone_GBps, 10);
}

TEST(Unknown, AloneGivesNoFigureAtAll) {
  Wiring wiring;
  const auto a = wiring.below(NodeKind::gpu, "GPU0", std::nullopt, wiring.bridge);
  const auto b = wiring.below(NodeKind::gpu, "GPU1", std::nullopt, wiring.bridge);
  const std::vector<Flow> flows = {{a, b, 1e9, {}}};
  const auto limits = limits_of(wiring.graph, flows);
  EXPECT_FALSE(limits.seconds);
  EXPECT_EQ(limits.unknown.size(), 2U);
  EXPECT_FALSE(limits.flows[0].alone_GBps);
  EXPECT_FALSE(fair_shares(flows, limits)[0]);
}

TEST(Unknown, IsTheWayToAnotherHost) {
  Wiring wiring;
  const auto a = wiring.gpu("GPU0", 10);
  const auto other = add_node(wiring.graph, NodeKind::host, "other");
  const auto limits = limits_of(wiring.graph, {{a, other, 1e9, {}}});
  EXPECT_FALSE(limits.seconds);
  EXPECT_EQ(limits.resources.at(limits.unknown.front()).name, "the way GPU0 -> other");
}

TEST(HostMemory, IsWrittenAndReadAndCrossesTheUplinkTwice) {
  Wiring wiring;
  const auto a = wiring.gpu("GPU0", 30);
  const auto b = wiring.gpu("GPU1", 30);
  const auto via = via_host_memory(wiring.graph, a);
  EXPECT_EQ(via, (std::vector<std::size_t>{wiring.numa}));
  const auto limits = limits_of(wiring.graph, {{a, b, 1e9, via}});
  EXPECT_DOUBLE_EQ(*limits.flows[0].alone_GBps, 20) << "up and down are directions of their own";
  std::vector<std::pair<std::string, double>> loads;
  for (const auto& resource : limits.resources) loads.emplace_back(resource.name, resource.bytes);
  EXPECT_EQ(loads, (std::vector<std::pair<std::string, double>>{{"PCIe GPU0 -> bridge", 1e9},
                                                                {"PCIe bridge -> NUMA0", 1e9},
                                                                {"memory of NUMA0", 2e9},
                                                                {"PCIe NUMA0 -> bridge", 1e9},
                                                                {"PCIe bridge -> GPU1", 1e9}}));
  EXPECT_FALSE(limits.flows[0].complete) << "how fast the memory is, is not known";
}

TEST(NearestNicsOfAFlow, MustBeOneAtEachEnd) {
  Wiring wiring;
  const auto a = wiring.gpu("GPU0", 30);
  const auto b = wiring.gpu("GPU1", 30);
  EXPECT_TRUE(via_nearest_nics(wiring.graph, a, b).empty());
  const auto nic = wiring.nic("mlx5_0", 12.5);
  EXPECT_EQ(via_nearest_nics(wiring.graph, a, b), (std::vector<std::size_t>{nic, nic}));
  wiring.nic("mlx5_1", 12.5);
  EXPECT_TRUE(via_nearest_nics(wiring.graph, a, b).empty());
}

TEST(Calibration, ReplacesWhatWasMeasured) {
  Wiring wiring;
  const auto a = wiring.gpu("GPU0", 10);
  const auto b = wiring.gpu("GPU1", 10);
  const auto up = wiring.graph.nodes[a].up;
  wiring.graph.links[up].calibrated_GBps = 8;
  wiring.graph.links[up].calibrated_by = "a transfer alone";
  const std::vector<Flow> flows = {{a, b, 1, {}}, {b, a, 1, {}}};
  const auto measured = limits_of(wiring.graph, flows, Basis::calibration);
  EXPECT_EQ(shares_of(flows, measured), (std::vector<double>{8, 10}));
  const auto& by = measured.resources.at(*measured.flows[0].alone_by);
  EXPECT_EQ(by.source, "a transfer alone");
  EXPECT_TRUE(by.calibrated);
  EXPECT_EQ(by.links, std::vector{up});
  EXPECT_FALSE(measured.resources.at(*measured.flows[1].alone_by).calibrated);
  EXPECT_EQ(shares_of(flows, limits_of(wiring.graph, flows)), (std::vector<double>{10, 10}));
}

/// A tree of random capacities, some unknown, with NVLinks across.
struct RandomMachine {
  std::mt19937_64 random;
  Wiring wiring;
  std::vector<std::size_t> gpus, nics;

  explicit RandomMachine(unsigned seed) : random(seed) {
    std::vector<std::size_t> bridges = {wiring.bridge};
    for (int i = 0; i < 3; ++i) {
      bridges.push_back(wiring.below(NodeKind::bridge, "bridge" + std::to_string(i), capacity(),
                                     bridges[below(bridges.size())]));
    }
    const auto node = [&](NodeKind kind, const char* name, int number) {
      return wiring.below(kind, name + std::to_string(number), capacity(),
                          bridges[below(bridges.size())]);
    };
    for (int i = 0; i < 6; ++i) gpus.push_back(node(NodeKind::gpu, "GPU", i));
    for (int i = 0; i < 2; ++i) {
      nics.push_back(node(NodeKind::nic, "mlx5_", i));
      attach_cable(wiring.graph, nics.back(), capacity());
    }
    for (int i = 0; i < 4; ++i) {
      const auto a = gpus[below(gpus.size())];
      const auto b = gpus[below(gpus.size())];
      if (a != b) wiring.nvlink(a, b, 1 + static_cast<int>(below(3)));
    }
    for (int i = 0; i < 3; ++i) wiring.nvlink(gpus[below(3)], switch_at(wiring.graph, ""), 2);
  }

  std::size_t below(std::size_t end) { return random() % end; }
  std::optional<Capacity> capacity() {
    if (below(8) == 0) return std::nullopt;
    return Capacity{1 + static_cast<double>(below(100)), "drawn"};
  }
  std::vector<Flow> flows() {
    std::vector<Flow> drawn(1 + below(20));
    for (auto& flow : drawn) {
      flow = {gpus[below(gpus.size())],
              gpus[below(gpus.size())],
              static_cast<double>(below(5)) * 1e9,
              {}};
      const auto how = below(4);
      if (how == 0) flow.via = {nics[0], nics[1]};
      if (how == 1) flow.via = via_host_memory(wiring.graph, flow.from);
    }
    return drawn;
  }
};

/// A machine's flows with what they share.
struct Shared {
  std::vector<Flow> flows;
  Limits limits;
  std::vector<std::optional<double>> shares;
  std::vector<double> taken;  ///< by resource: what the shares take of it

  explicit Shared(unsigned seed) {
    RandomMachine machine(seed);
    flows = machine.flows();
    limits = limits_of(machine.wiring.graph, flows);
    shares = fair_shares(flows, limits);
    taken.resize(limits.resources.size());
    for (std::size_t f = 0; f < flows.size(); ++f) {
      for (const auto& [index, part] : limits.flows[f].uses) {
        taken[index] += part * shares[f].value_or(0);
      }
    }
  }

  bool crosses(std::size_t flow, std::size_t resource) const {
    return std::ranges::any_of(limits.flows[flow].uses,
                               [&](const auto& use) { return use.first == resource; });
  }

  /// Max-min: the flow crosses a full resource in which no other flow has more.
  bool is_held_back(std::size_t flow) const {
    for (std::size_t i = 0; i < taken.size(); ++i) {
      const auto& GBps = limits.resources[i].GBps;
      if (!crosses(flow, i) || !GBps || taken[i] * rounding < *GBps) continue;
      double most = 0;
      for (std::size_t f = 0; f < flows.size(); ++f) {
        if (crosses(f, i)) most = std::max(most, shares[f].value_or(0));
      }
      if (most <= *shares[flow] * rounding) return true;
    }
    return false;
  }
};

TEST(OfRandomTraffic, SharesFitAndNoFlowCouldHaveMoreFairly) {
  for (unsigned seed = 0; seed < 500; ++seed) {
    const Shared shared(seed);
    for (std::size_t i = 0; i < shared.taken.size(); ++i) {
      const auto& resource = shared.limits.resources[i];
      if (!resource.GBps) continue;
      EXPECT_LE(shared.taken[i], *resource.GBps * rounding) << seed << " " << resource.name;
    }
    for (std::size_t f = 0; f < shared.flows.size(); ++f) {
      const auto& alone = shared.limits.flows[f].alone_GBps;
      const auto& share = shared.shares[f];
      EXPECT_EQ(share.has_value(), alone && shared.flows[f].bytes > 0) << seed;
      if (!share) continue;
      EXPECT_LE(*share, *alone * rounding) << seed;
      EXPECT_TRUE(shared.is_held_back(f)) << seed << " flow " << f;
    }
  }
}

// What the bound promises: no flow alone, and no fair order of sending, is faster.
TEST(OfRandomTraffic, NothingMovesFasterThanTheBound) {
  for (unsigned seed = 0; seed < 500; ++seed) {
    const Shared shared(seed);
    double slowest = 0;
    for (std::size_t f = 0; f < shared.flows.size(); ++f) {
      if (!shared.shares[f]) continue;
      const auto alone = shared.flows[f].bytes / (*shared.limits.flows[f].alone_GBps * 1e9);
      EXPECT_LE(alone, *shared.limits.seconds * rounding) << seed;
      slowest = std::max(slowest, shared.flows[f].bytes / (*shared.shares[f] * 1e9));
    }
    EXPECT_GE(slowest * rounding, shared.limits.seconds.value_or(0)) << seed;
  }
}

}  // namespace
}  // namespace ucxbench
