#include "bench/cli/plan/settle.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>

#include "harness/analysis/fixtures.hpp"
#include "harness/analysis/imports/import.hpp"
#include "harness/core/refusal_for_test.hpp"
#include "harness/result/words.hpp"

namespace ucxbench {
namespace {

/// A machine without GPU and RDMA device.
Machine plain_machine() {
  Machine machine{.found = {}, .configuration = {}, .wiring = {}, .cpus = {0, 1, 2, 3}};
  machine.found.ucx.version = "1.15.0";
  machine.found.ucx.resources = {{"tcp", "tcp", "lo"}, {"posix", "posix", "memory"}};
  machine.found.no_cuda = "CUDA: no driver";
  return machine;
}

Plan plan_of(const std::vector<std::string>& sets) {
  Plan plan;
  plan.benchmark = "pingpong";
  plan.cpus = {{2}, {3}};
  plan.ranks = {2};
  for (const auto& set : sets) plan.sets.push_back(TransportSet::parse(set));
  plan.memory = {{MemoryKind::host, MemoryKind::host}};
  plan.cases = [](const Place& place, int) {
    std::string key;
    for (const auto& member : place.transports) key += member + "/";
    for (const auto& memory : place.memory) key += memory + "/";
    Case planned;
    planned.parameters = Json::object();
    planned.key = key + place.net_devices + "/" + std::to_string(place.ranks);
    return std::vector{planned};
  };
  return plan;
}

std::vector<std::string> keys_of(const Result& result) {
  std::vector<std::string> keys;
  for (const auto& of : result.cases) keys.push_back(of.key);
  return keys;
}

std::vector<std::string> names_of(const std::vector<LaunchPlan>& launches) {
  std::vector<std::string> names;
  for (const auto& launch : launches) names.push_back(launch.name);
  return names;
}

/// "" where the rank has no such variable.
std::string variable_of(const RankCommand& rank, const std::string& name) {
  for (const auto& entry : rank.environment) {
    if (entry.starts_with(name + "=")) return entry.substr(name.size() + 1);
  }
  return "";
}

using Words = std::vector<std::string>;

TEST(Settling, MakesALaunchForEachSetMemoryAndNumberOfRanks) {
  auto plan = plan_of({"tcp", "shm"});
  plan.memory.push_back({MemoryKind::cuda, MemoryKind::host});
  plan.ranks = {2, 4};
  Result result;
  const auto launches = settle({plan}, plain_machine(), result);
  EXPECT_EQ(names_of(launches), (Words{"tcp, ranks 2", "tcp, ranks 4", "tcp, cuda-host, ranks 2",
                                       "tcp, cuda-host, ranks 4", "shm, ranks 2", "shm, ranks 4",
                                       "shm, cuda-host, ranks 2", "shm, cuda-host, ranks 4"}));
  EXPECT_EQ(keys_of(result), (Words{"tcp/host/host/lo/2", "tcp/host/host/lo/4",
                                    "tcp/cuda/host/lo/2", "tcp/cuda/host/lo/4", "shm/host/host//2",
                                    "shm/host/host//4", "shm/cuda/host//2", "shm/cuda/host//4"}));
  for (std::size_t at = 0; at < launches.size(); ++at) {
    EXPECT_EQ(launches[at].cases, std::vector<std::size_t>{at});
    EXPECT_EQ(launches[at].launch.ranks.size(), static_cast<std::size_t>(launches[at].ranks));
    EXPECT_EQ(launches[at].unavailable.empty(), !on_gpu(launches[at].memory.front()));
  }
  EXPECT_EQ(launches[2].unavailable, "CUDA: no driver");
}

TEST(Settling, FixesTheEnvironmentOfEachRank) {
  auto plan = plan_of({"tcp"});
  plan.ucx = {{"UCX_RNDV_THRESH", "8k"}};
  plan.wrap = "nice";
  plan.timeout = std::chrono::milliseconds(7);
  Result result;
  const auto launches = settle({plan}, plain_machine(), result);
  const auto& launch = launches.at(0).launch;
  EXPECT_EQ(launch.timeout, std::chrono::milliseconds(7));
  EXPECT_TRUE(launch.told.empty());
  ASSERT_EQ(launch.ranks.size(), 2U);
  for (std::size_t rank = 0; rank < 2; ++rank) {
    EXPECT_EQ(variable_of(launch.ranks[rank], "UCX_TLS"), "tcp");
    EXPECT_EQ(variable_of(launch.ranks[rank], "UCX_NET_DEVICES"), "lo");
    EXPECT_EQ(variable_of(launch.ranks[rank], "UCX_RNDV_THRESH"), "8k");
    EXPECT_EQ(launch.ranks[rank].wrap, "nice");
    EXPECT_EQ(launch.ranks[rank].cpus, plan.cpus[rank]);
  }
  EXPECT_EQ(result.ucx.at("environment").at("asked").at("tcp").at("UCX_RNDV_THRESH"), "8k");
}

TEST(Settling, TellsUcxTheNumberOfEndpoints) {
  const auto told = [](int asked, bool one_peer) {
    auto plan = plan_of({"tcp"});
    plan.ranks = {4};
    plan.estimated_eps = asked;
    plan.one_peer = one_peer;
    Result result;
    return variable_of(settle({plan}, plain_machine(), result).at(0).launch.ranks.at(0),
                       "UCX_NUM_EPS");
  };
  EXPECT_EQ(told(0, false), "3");
  EXPECT_EQ(told(0, true), "");
  EXPECT_EQ(told(5, false), "5");
  EXPECT_EQ(told(5, true), "5");
}

Plan plan_of_hosts(int hosts) {
  auto plan = plan_of({"tcp"});
  plan.listen = "127.0.0.1:13337";
  plan.hosts = hosts;
  return plan;
}

TEST(Settling, GivesTheOtherHostsTheirRanks) {
  auto plan = plan_of_hosts(3);
  plan.ranks = {6};
  plan.cpus = {{0}, {1}};
  auto machine = plain_machine();
  machine.remote_route = "eth7";
  machine.seats = {
      {.cpus = 4}, {.index = 0, .of = 2, .cpus = 4}, {.index = 1, .of = 2, .cpus = 4, .before = 1}};
  Result result;
  auto launches = settle({plan}, machine, result);
  EXPECT_EQ(launches.at(0).ranks, 6);
  EXPECT_EQ(launches[0].launch.ranks.size(), 2U);
  EXPECT_EQ(launches[0].launch.hosts, (std::vector{0, 0, 1, 1, 2, 2}));
  ASSERT_EQ(launches[0].launch.told.size(), 2U);
  for (std::size_t host = 0; host < 2; ++host) {
    const auto& told = launches[0].launch.told[host];
    EXPECT_EQ(told.at("set"), "tcp");
    EXPECT_EQ(told.at("settings").at("UCX_NET_DEVICES"), "eth7");
    EXPECT_EQ(told.at("seat"), (Json{{"index", host}, {"of", 2}}));
    EXPECT_EQ(told.at("first_on_machine"), 2 * host);
    EXPECT_EQ(launches[0].launch.ranks[host].on_machine, static_cast<int>(host));
  }
  plan.hosts_in_turns = true;
  Result in_turns;
  launches = settle({plan}, machine, in_turns);
  EXPECT_EQ(launches.at(0).launch.hosts, (std::vector{0, 1, 2, 0, 1, 2}));
}

// Of one run, as of a suite.
TEST(Settling, NamesTheHostsOfTheRanksOfEachCase) {
  auto in_order = plan_of_hosts(2);
  in_order.ranks = {2, 4};
  auto in_turns = plan_of_hosts(2);
  in_turns.ranks = {4};
  in_turns.hosts_in_turns = true;
  auto machine = plain_machine();
  machine.seats = {{.cpus = 4}, {.cpus = 4}};
  machine.others = {{.name = "b", .found = machine.found}};
  machine.hosts = 2;
  Result result;
  result.machine["hosts"] = {{{"name", "a"}}, {{"name", "b"}}};
  settle({in_order}, machine, result);
  auto turned = result;
  turned.cases.clear();
  settle({in_turns}, machine, turned);
  using Names = std::vector<std::string>;
  ASSERT_EQ(result.cases.size(), 2U);
  ASSERT_EQ(turned.cases.size(), 1U);
  EXPECT_EQ(result.cases[0].hosts, (Names{"a", "b"}));
  EXPECT_EQ(result.cases[1].hosts, (Names{"a", "a", "b", "b"}));
  EXPECT_EQ(turned.cases[0].hosts, (Names{"a", "b", "a", "b"}));
}

TEST(Settling, SaysWhatCannotRunHere) {
  Result result;
  const auto launches = settle({plan_of({"ib", "nvlink", "shm"})}, plain_machine(), result);
  EXPECT_TRUE(launches.at(0).unavailable.starts_with("ib: UCX 1.15.0")) << launches[0].unavailable;
  EXPECT_TRUE(launches.at(1).unavailable.starts_with("nvlink: ")) << launches[1].unavailable;
  EXPECT_EQ(launches.at(2).unavailable, "");
  EXPECT_EQ(result.cases.size(), 3U);
}

TEST(Settling, PlacesRanksOnAMachineThatThisIsNot) {
  auto machine = plain_machine();
  machine.wiring = {.graph = import_topology(fixture("dgx1.nccl.xml")),
                    .gpus = {},
                    .rdma_ports = {"mlx5_0:1", "mlx5_1:1", "mlx5_2:1", "mlx5_3:1"}};
  for (const auto node : machine.wiring.graph.devices()) {
    const auto& device = machine.wiring.graph.nodes[node];
    if (device.kind == NodeKind::gpu) machine.wiring.gpus.push_back(device.pci);
  }
  machine.cpus.clear();
  for (int cpu = 0; cpu < 80; ++cpu) machine.cpus.push_back(cpu);
  machine.found.ucx.components = {"ib", "cuda_ipc"};
  machine.found.no_cuda.clear();
  auto plan = plan_of({"tcp,ib"});
  plan.memory = {{MemoryKind::cuda, MemoryKind::cuda}};
  plan.devices = {4, 0};
  plan.bind_by_wiring = true;
  Result result;
  const auto launches = settle({plan}, machine, result);
  const auto& ranks = launches.at(0).launch.ranks;
  EXPECT_EQ(ranks.at(0).cpus, std::vector<int>{20});
  EXPECT_EQ(ranks.at(1).cpus, std::vector<int>{0});
  EXPECT_EQ(variable_of(ranks[0], "UCX_NET_DEVICES"), launches[0].net_devices.at(0));
  EXPECT_NE(launches[0].net_devices.at(0), launches[0].net_devices.at(1));
  EXPECT_EQ(result.run.at("placement"),
            (Json{"--bind auto: near to each rank's GPU",
                  "--net-devices auto, tcp+ib: the NIC nearest to each rank's data"}));
}

TEST(Settling, KeepsThePlansOfASuiteApart) {
  auto first = plan_of({"tcp"});
  first.name = "case 1";
  first.require = TransportSet::parse("tcp");
  auto second = plan_of({"shm"});
  second.name = "case 2";
  second.strict = true;
  Result result;
  const auto launches = settle({first, second}, plain_machine(), result);
  EXPECT_EQ(names_of(launches), (Words{"tcp, case 1", "shm, case 2"}));
  EXPECT_TRUE(launches[0].require && !launches[1].require);
  EXPECT_TRUE(!launches[0].strict && launches[1].strict);
  const auto twice = refusal_by([&] {
    Result of_both;
    settle({first, first}, plain_machine(), of_both);
  });
  EXPECT_EQ(twice, "tcp/host/host/lo/2 would be measured twice; leave one out");
}

std::string refused(Plan plan, const Machine& machine) {
  return refusal_by([&] {
    std::vector plans = {std::move(plan)};
    check_plans(plans, machine);
  });
}

TEST(CheckedPlans, DoNotGoAgainstTheMachine) {
  auto machine = plain_machine();
  EXPECT_EQ(refused(plan_of({"tcp"}), machine), "accepted");
  machine.configuration = {{"/etc/ucx/ucx.conf", {{"UCX_TLS", "shm"}, {"UCX_LOG_LEVEL", "warn"}}}};
  const auto configured = refused(plan_of({"tcp"}), machine);
  EXPECT_TRUE(configured.starts_with("/etc/ucx/ucx.conf sets UCX_TLS=shm, which UCX reads "))
      << configured;
  auto plan = plan_of({"tcp"});
  plan.ucx = {{"UCX_TLS", "tcp"}};
  plan.origin = "suite.toml:7: case 2";
  EXPECT_EQ(refused(plan, machine), "accepted");

  machine.configuration.clear();
  machine.found.gpus = {{0, "a GPU", "0000:07:00.0", 1U << 30U}};
  plan.devices = {1};
  EXPECT_EQ(refused(plan, machine), "suite.toml:7: case 2: --devs: no GPU 1; there are 0 to 0");
  plan.devices = {0};
  plan.pool_bytes = 1ULL << 31U;
  EXPECT_NE(refused(plan, machine).find("--rmm-pool-size: 2 GiB is more than GPU 0 has"),
            std::string::npos);
}

TEST(CheckedPlans, OfAnAblationHaveEverySetOfTheMachine) {
  auto plan = plan_of({"tcp"});
  plan.ablate = true;
  std::vector plans = {plan};
  check_plans(plans, plain_machine());
  Words names;
  for (const auto& set : plans[0].sets) names.push_back(set.name());
  EXPECT_EQ(names, (Words{"shm", "tcp", "shm+tcp", "auto"}));
}

// A case that says for how many CPUs it was planned, and its mode there.
Plan automatic_plan(std::vector<int> ranks) {
  auto plan = plan_of({"tcp"});
  plan.cpus.clear();
  plan.ranks = std::move(ranks);
  plan.cases = [](const Place& place, int cpus) {
    const auto mode = ProgressMode::parse("auto").in(place.ranks, cpus);
    Case planned;
    planned.key = std::to_string(place.ranks) + "/" + std::to_string(cpus);
    planned.parameters = {{"progress_mode", mode.name()}};
    return std::vector{planned};
  };
  return plan;
}

TEST(Settling, SaysHowRanksWaitWhereTheyOutnumberTheCpus) {
  Result result;
  settle({automatic_plan({2, 4, 5, 64})}, plain_machine(), result);
  EXPECT_EQ(keys_of(result), (Words{"2/4", "4/4", "5/4", "64/4"}));
  ASSERT_EQ(result.run.at("crowded").size(), 2U);
  EXPECT_EQ(crowded_in_words(result.run["crowded"][0]), "event (5 ranks on 4 CPUs)");
  EXPECT_EQ(crowded_in_words(result.run["crowded"][1]), "event (64 ranks on 4 CPUs)");
}

TEST(Settling, CountsTheCpusThatRanksAreBoundTo) {
  auto plan = automatic_plan({3});
  plan.cpus = {{2}, {2}, {2}};
  Result result;
  settle({plan}, plain_machine(), result);
  EXPECT_EQ(keys_of(result), Words{"3/1"});
  EXPECT_EQ(crowded_in_words(result.run.at("crowded").at(0)), "event (3 ranks on 1 CPU)");
}

TEST(Settling, OfSeveralHostsCountsTheRanksOfEach) {
  const auto crowded = [](std::vector<Seat> seats) -> std::string {
    auto plan = automatic_plan({static_cast<int>(std::max<std::size_t>(seats.size(), 2))});
    plan.listen = "";
    plan.hosts = plan.ranks.front();
    auto machine = plain_machine();
    machine.cpus = {3};
    machine.seats = std::move(seats);
    Result result;
    settle({plan}, machine, result);
    return result.run.contains("crowded") ? crowded_in_words(result.run["crowded"][0]) : "";
  };
  EXPECT_EQ(crowded({}), "");
  EXPECT_EQ(crowded({{.cpus = 1}, {.cpus = 4}}), "");
  // Of hosts that are one machine, those of the machine.
  EXPECT_EQ(crowded({{.of = 2, .cpus = 1}, {.index = 1, .of = 2, .cpus = 1}}),
            "event (2 ranks on 1 CPU)");
  EXPECT_EQ(crowded({{.of = 3, .cpus = 2}, {.of = 3, .cpus = 2}, {.of = 3, .cpus = 2}}),
            "event (3 ranks on 2 CPUs)");
}

TEST(Settling, LeavesOutWhatAnotherHostLacks) {
  auto machine = plain_machine();
  machine.found.ucx.components = {"ib"};
  machine.found.ucx.resources.push_back({"ib", "rc_verbs", "mlx5_0:1"});
  machine.hosts = 3;
  machine.others = {{"node1", machine.found}, {"node2", plain_machine().found}};
  auto plan = plan_of({"ib", "tcp", "shm"});
  plan.hosts = 3;
  plan.ranks = {6};
  Result result;
  auto launches = settle({plan}, machine, result);
  EXPECT_TRUE(launches[0].unavailable.starts_with("ib: UCX 1.15.0")) << launches[0].unavailable;
  EXPECT_TRUE(launches[0].unavailable.ends_with(", on node2")) << launches[0].unavailable;
  EXPECT_EQ(launches[1].unavailable, "");
  EXPECT_EQ(launches[2].unavailable, "");  // in shells, or containers, of one machine
  machine.several_machines = true;
  Result of_machines;
  launches = settle({plan}, machine, of_machines);
  EXPECT_EQ(launches[1].unavailable, "");
  EXPECT_EQ(launches[2].unavailable,
            "shm: it carries nothing from one host to another; add tcp or ib");
}

TEST(Settling, OfSeveralHostsHasOtherKeys) {
  auto plan = plan_of({"tcp"});
  plan.hosts = 2;
  auto machine = plain_machine();
  Result planned;
  settle({plan}, machine, planned);
  EXPECT_EQ(keys_of(planned), (Words{"tcp/host/host/lo/2/hosts=2"}));
  EXPECT_EQ(planned.cases[0].parameters.at("hosts"), 2);
  machine.hosts = 1;  // two shells there
  Result shells;
  settle({plan}, machine, shells);
  EXPECT_EQ(keys_of(shells), (Words{"tcp/host/host/lo/2"}));
}

}  // namespace
}  // namespace ucxbench
