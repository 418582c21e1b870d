#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string>

#include "harness/analysis/findings.hpp"
#include "harness/report/report.hpp"
#include "harness/report/report_for_test.hpp"
#include "harness/report/sample.hpp"
#include "harness/result/older_runs.hpp"

namespace ucxbench {
namespace {

Result with_canary() {
  auto result = sample_result();
  Case canary;
  canary.key = "canary/memcpy";
  canary.benchmark = canary_benchmark;
  canary.parameters = {{"bytes", 67108864}};
  canary.state = CaseState::measured;
  canary.shows = shows_of_older(canary);
  for (int launch = 0; launch < 6; ++launch) {
    LaunchRecord record{.launch = launch, .src = 0, .dst = 0};
    record.samples["copy_GBps"] = {.quantiles = {.count = 1, .p50 = 8.0 + launch}, .seen = 1};
    canary.launches.push_back(record);
  }
  summarize(canary);
  result.cases.push_back(canary);
  return result;
}

TEST(Canary, IsALineAndNoTable) {
  const auto text = render("table", as_read(with_canary()));
  EXPECT_NE(text.find("  canary          memcpy 10.50 GB/s (8.000..13.00)\n"), std::string::npos)
      << text;
  const auto begin = text.substr(0, text.find("  canary "));
  EXPECT_EQ(begin, render("table", as_read(sample_result())).substr(0, begin.size()));
  EXPECT_NE(render("csv", with_canary()).find("canary/memcpy,canary,"), std::string::npos);
}

// Of a run of several commands, the others may have more.
TEST(Table, SaysTheRanksOfItsCases) {
  auto result = sample_result();
  auto more = result.ranks.back();
  more["rank"] = 2;
  more["cpus"] = {4};
  result.ranks.push_back(more);
  const auto text = render("table", as_read(result));
  EXPECT_EQ(text, render("table", as_read(sample_result())));
}

// As of p2p, whose cases of one size are with one pair and with all at a time.
TEST(Table, DoesNotSayOneSizeTwice) {
  auto result = sample_result();
  for (auto& of : result.cases) {
    if (of.state == CaseState::skipped) of.shows.axes.front().text = "8 B";
  }
  const auto text = render("table", as_read(result));
  EXPECT_NE(text.find("  skipped 8 B (3 cases): cannot run here: ib"), std::string::npos) << text;
}

TEST(Table, IsThis) {
  EXPECT_EQ(render("table", as_read(sample_result())),
            R"(pingpong tag, host to host, over tcp
  2 ranks; CPUs 0, 2; lanes tcp/lo; 6 launches (95% CI: their range); window 64, bidirectional,
  progress mode poll, connect by address, time per launch 300 ms
                        latency one way, us
   size    p50        95% CI   p90   p99  p99.9   min   max
    8 B  12.30  12.00..12.60  12.8  12.9      -  11.4  13.2
  1 KiB  12.72  12.41..13.03  13.2  13.3      -  11.8  13.7
  1 MiB  442.2  431.4..453.0   460   464      -   410   476
                                 GB/s received                                  msg/s
   size       0->1                95% CI  both ways              95% CI    p50        95% CI
    8 B  0.0009754  0.0009521..0.0009997   0.001756  0.001714..0.001800   122k    119k..125k
  1 KiB     0.1208        0.1179..0.1238     0.2174      0.2122..0.2228   118k    115k..121k
  1 MiB      3.557          3.472..3.646      6.402        6.250..6.562  3.39k  3.31k..3.48k
  transport used  tcp
  cold cost       context 2.50 ms (2.50 ms..2.50 ms), connect 900 us (900 us..900 us), first message
                  of 8 B 36.9 us (36.0 us..37.8 us)
  timer overhead  7.2 ns per iteration (7.2..7.2), timed loop 1.002 x the untimed (1.002..1.002)
  verified        1800/1800 messages

pingpong tag, host to host, over shm
  2 ranks; CPUs 0, 2; lanes posix/memory; 6 launches (95% CI: their range); window 64,
  bidirectional, progress mode poll, connect by address, time per launch 300 ms
                            latency one way, us
   size     p50          95% CI    p90    p99  p99.9    min    max
    8 B  0.2058  0.2008..0.4168  0.214  0.216      -  0.191  0.438
  1 KiB  0.3100  0.3024..0.5225  0.322  0.325      -  0.287  0.549
                             GB/s received                             msg/s
   size     0->1            95% CI  both ways           95% CI    p50        95% CI
    8 B  0.05830  0.02879..0.05976     0.1049  0.05182..0.1076  7.29M  3.60M..7.47M
  1 KiB    4.956      2.940..5.079      8.920     5.292..9.143  4.84M  2.87M..4.96M
  failed 1 MiB: rank 1 was killed by signal 9 (Killed)
  transport used  shm
  cold cost       context 2.50 ms (2.50 ms..2.50 ms), connect 900 us (900 us..900 us), first message
                  of 8 B 617 ns (602 ns..1.25 us)
  timer overhead  7.2 ns per iteration (7.2..7.2), timed loop 1.050 x the untimed (1.050..1.050)
  verified        1200/1200 messages

pingpong tag, host to host, over ib
  skipped 8 B to 1 MiB (3 cases): cannot run here: ib: no InfiniBand device

  machine         node07: Invented CPU 3000, cores 8, NUMA nodes 1, Linux 6.1.0
  labels          vm
  software        ucx-bench 0.1.0 (commit 1a2b3c4d5e6f), UCX 1.13.1
  quality         failed: 1 of 9 cases did not pass; virtual machine; launches far apart; timer
                  overhead or noise up to 5.0 % (8 B over shm; 2 of 5 cases)

2 findings: -v shows all
)");
}

TEST(Table, OfSeveralPairsIsThis) {
  EXPECT_EQ(render("table", as_read(sample_of_pairs())),
            R"(pingpong tag, host to host, over tcp
  4 ranks, medians over 2 pairs at once; CPUs 0, 2, 4, 6; lanes tcp/lo; 1 launch (no interval);
  window 64, bidirectional, progress mode poll, connect by address, time per launch 300 ms
                  latency one way, us              GB/s received     msg/s
    size    p50   p90   p99  p99.9   min   max   one way  both ways    p50
     8 B  11.00  11.4  11.5      -  9.50  12.6  0.001100   0.001979   137k
  64 KiB  43.77  45.5  45.9      -  40.6  47.0     2.247      4.045  34.3k
          8 B            64 KiB
  pair  p50, us    p25  p50, GB/s    p75
  0->1    10.00  2.241      2.299  2.356
  2->3    12.00  2.141      2.196  2.251
  transport used  tcp
  cold cost       context 2.50 ms, connect 900 us, first message of 8 B 33.0 us
  timer overhead  7.2 ns per iteration, timed loop 1.002 x the untimed
  verified        400/400 messages

  machine         node07: Invented CPU 3000, cores 8, NUMA nodes 1, Linux 6.1.0
  labels          vm
  software        ucx-bench 0.1.0 (commit 1a2b3c4d5e6f), UCX 1.13.1
  quality         fair: virtual machine; 1 launch gives no 95 % interval

1 finding: -v shows all
)");
}

TEST(Table, IsAtMost100ColumnsWide) {
  for (const auto& result : {sample_result(), sample_of_pairs()}) {
    for (const auto& line : lines_of(render("table", as_read(result))))
      EXPECT_LE(line.size(), 100U) << line;
  }
}

TEST(Table, IsColouredOnlyWhenAsked) {
  EXPECT_FALSE(contains(render("table", as_read(sample_result())), "\x1b["));
  const auto colored = render("table", as_read(sample_result()), {.color = true});
  EXPECT_TRUE(
      contains(colored, "\x1b[31m  failed 1 MiB: rank 1 was killed by signal 9 (Killed)\x1b[0m"));
  auto result = sample_result();
  result.cases[0].verified.errors = 1;
  EXPECT_TRUE(
      contains(render("table", as_read(result), {.color = true}),
               "\n\x1b[31merror    pingpong tag, host to host, over tcp: 1 message arrived"));
}

TEST(Table, EndsWithTheFindings) {
  auto result = sample_result();
  result.cases[0].verified.errors = 1;
  const auto text = render("table", as_read(result));
  EXPECT_TRUE(text.starts_with("pingpong tag"));
  EXPECT_TRUE(contains(text,
                       "\n\nerror    pingpong tag, host to host, over tcp: 1 message arrived with "
                       "wrong data -> "))
      << text;
  EXPECT_TRUE(contains(text, "1799/1800 messages"));
}

Json invented_finding(const std::string& id, const char* severity) {
  return {{"id", id},          {"severity", severity},
          {"subject", "host"}, {"evidence", "odd: in every way"},
          {"cost_ms", 0.25},   {"next", "close programs"}};
}

TEST(Table, EndsWithWhatEachFindingSays) {
  auto result = sample_result();
  result.findings.push_back(invented_finding("some-rule", "note"));
  const auto text = render("table", result);
  EXPECT_TRUE(text.ends_with(
      "\n\nnote     host: odd: in every way; costs 250 us -> close programs [some-rule]\n"))
      << text;
}

TEST(Table, ShowsThreeFindingsAndCountsTheRest) {
  auto result = sample_result();
  result.findings.push_back(invented_finding("d", "warning"));
  for (const auto* id : {"a", "b", "c"}) result.findings.push_back(invented_finding(id, "note"));
  result.findings.push_back(invented_finding("busy-host", "warning"));
  result.findings.push_back(invented_finding("few-launches", "note"));
  result.file = "here/run.json";
  const auto brief = render("table", result);
  EXPECT_TRUE(contains(
      brief, "  quality         failed: 1 of 9 cases did not pass; virtual machine; odd\n"))
      << brief;
  EXPECT_TRUE(contains(brief, "[d]\n") && contains(brief, "[a]\n") && contains(brief, "[b]\n"));
  EXPECT_FALSE(contains(brief, "[c]") || contains(brief, "[busy-host]"));
  EXPECT_TRUE(brief.ends_with("3 more findings: ucx-bench report here/run.json --findings\n"));
  const auto all = render("table", result, {.findings = true});
  for (const auto* id : {"a", "b", "c", "d", "busy-host", "few-launches"}) {
    EXPECT_TRUE(contains(all, "[" + std::string(id) + "]\n")) << id;
  }
  EXPECT_FALSE(contains(all, "--findings"));
}

TEST(Table, OfARunWithoutCasesHasAllFindings) {
  Result result;
  for (const auto* id : {"a", "b", "c", "d"})
    result.findings.push_back(invented_finding(id, "note"));
  EXPECT_TRUE(contains(render("table", result), "[d]\n"));
}

/// Fourteen sizes from 8 B.
Result with_many_sizes() {
  auto result = sample_result();
  const auto original = result.cases[0];
  result.cases.clear();
  for (int power = 3; power < 17; ++power) {
    auto of = original;
    of.parameters["bytes"] = 1U << static_cast<unsigned>(power);
    of.metrics.at("latency_us").quantiles.p50 = power < 16 ? 1.0 : 1000.0;
    of.shows = shows_of_older(of);
    result.cases.push_back(of);
  }
  return result;
}

TEST(Table, OnATerminalHasADozenRows) {
  const auto run = as_read(with_many_sizes());
  const auto brief = render("table", run, {.brief = true});
  EXPECT_TRUE(contains(brief, "  12 of 14 rows; --all-rows shows the rest\n"));
  EXPECT_TRUE(contains(brief, "\n     8 B ") && contains(brief, "\n  64 KiB ")) << brief;
  EXPECT_FALSE(contains(brief, "\n   512 B "));
  for (const RenderOptions options : {RenderOptions{}, {.brief = true, .all_rows = true}}) {
    const auto text = render("table", run, options);
    EXPECT_TRUE(contains(text, "\n   512 B ")) << text;
    EXPECT_FALSE(contains(text, "--all-rows"));
  }
}

TEST(Table, OnATerminalHasAChart) {
  ::setenv("LC_ALL", "C.UTF-8", 1);
  const auto run = as_read(with_many_sizes());
  EXPECT_TRUE(
      contains(render("table", run, {.brief = true}),
               "  latency                  ▁▁▁▁▁▁▁▁▁▁▁▁▁█  1.00 us at 8 B to 1.00 ms at 64 KiB\n"));
  EXPECT_FALSE(contains(render("table", run), "▁"));
  ::setenv("LC_ALL", "C", 1);
  EXPECT_FALSE(contains(render("table", run, {.brief = true}), "▁"));
  ::unsetenv("LC_ALL");
}

TEST(Table, NamesLabels) {
  auto result = sample_result();
  result.machine["labels"] = {"vm", "oversubscribed"};
  result.cases[0].labels = {"emulated-gpu", "soft-roce"};
  const auto text = render("table", as_read(result));
  EXPECT_TRUE(contains(text, "  labels          emulated-gpu, soft-roce\n"));
  EXPECT_TRUE(contains(text, "  labels          vm, oversubscribed\n"));
}

TEST(Table, NamesEqualHostsTogether) {
  auto result = sample_result();
  const auto host = result.machine["hosts"][0];
  for (const auto* name : {"node08", "node09"}) {
    result.machine["hosts"].push_back(host);
    result.machine["hosts"].back()["name"] = name;
  }
  result.machine["hosts"].push_back(host);
  result.machine["hosts"].back()["name"] = "odd";
  result.machine["hosts"].back()["cores"] = 4;
  const auto text = render("table", as_read(result));
  EXPECT_TRUE(
      contains(text, "  machine         3 hosts, node07 to node09: Invented CPU 3000, cores 8"));
  EXPECT_TRUE(contains(text, "  machine         odd: Invented CPU 3000, cores 4"));
  EXPECT_FALSE(contains(text, "node08"));
}

TEST(Table, SaysThatAnEmulatedCpuMeasuresNothing) {
  constexpr auto words =
      "warning  machine: the CPU is emulated: no figure is a performance figure -> ";
  auto result = sample_result();
  EXPECT_FALSE(contains(render("table", as_read(result)), words));
  result.machine["labels"].push_back("emulated-cpu");
  EXPECT_TRUE(contains(render("table", as_read(result)), words));
}

TEST(Table, OfAnEmptyRunIsItsEnvironment) {
  EXPECT_EQ(render("table", Result{}), "  software        ucx-bench - (commit -), UCX -\n");
}

}  // namespace
}  // namespace ucxbench
