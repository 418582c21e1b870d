#include "harness/transports/protocol_tables.hpp"

#include <gtest/gtest.h>

namespace ucxbench {
namespace {

// As UCX 1.22.0 prints it at ucx_perftest's receiver, over tcp with two devices; but nothing was
// sent of 0 bytes.
constexpr const char* of_1_22 =
    R"([1795257630.990714] [vm:23724:0]   +-------+------------+-------------------------------------------------+-----------------------------------+
[1795257630.990714] [vm:23724:0]   | perftest intra-node cfg#0                                                                                |
[1795257630.990714] [vm:23724:0]   | tagged message by ucp_tag_send*(multi) from host memory                                                  |
[1795257630.990714] [vm:23724:0]   +-------+------------+-------------------------------------------------+-----------------------------------+
[1795257630.990714] [vm:23724:0]   | Count |   Range    |                   Description                   |              Config               |
[1795257630.990714] [vm:23724:0]   +-------+------------+-------------------------------------------------+-----------------------------------+
[1795257630.990714] [vm:23724:0]   |     3 |     0..626 | eager short                                     | tcp/lo                            |
[1795257630.990714] [vm:23724:0]   |     0 |  627..1862 | multi-frag eager copy-in copy-out               | tcp/lo                            |
[1795257630.990714] [vm:23724:0]   |     0 | 1863..3128 | (?) rendezvous fragmented copy-in copy-out      | tcp/lo                            |
[1795257630.990714] [vm:23724:0]   |     0 |  3129..inf | (?) rendezvous zero-copy fenced write to remote | 52% on tcp/lo and 48% on tcp/eth0 |
[1795257630.990714] [vm:23724:0]   +-------+------------+-------------------------------------------------+-----------------------------------+
[1795257630.990741] [vm:23724:0]   +-------+-----------+--------------------------------------+-----------------------------------+
[1795257630.990741] [vm:23724:0]   | perftest intra-node cfg#0                                                                    |
[1795257630.990741] [vm:23724:0]   | rendezvous data fetch(multi) into host memory from host                                      |
[1795257630.990741] [vm:23724:0]   +-------+-----------+--------------------------------------+-----------------------------------+
[1795257630.990741] [vm:23724:0]   | Count |   Range   |             Description              |              Config               |
[1795257630.990741] [vm:23724:0]   +-------+-----------+--------------------------------------+-----------------------------------+
[1795257630.990741] [vm:23724:0]   |     2 |         0 | no data fetch                        |                                   |
[1795257630.990741] [vm:23724:0]   |     0 |   1..2500 | (?) fragmented copy-in copy-out      | tcp/lo                            |
[1795257630.990741] [vm:23724:0]   |  1003 | 2501..inf | (?) zero-copy fenced write to remote | 52% on tcp/lo and 48% on tcp/eth0 |
[1795257630.990741] [vm:23724:0]   +-------+-----------+--------------------------------------+-----------------------------------+
)";

// The same of UCX 1.21.0; some rows left out.
constexpr const char* of_1_21 =
    R"([1795258031.296327] [vm:30204:0]   +---------------------------+-------------------------------------------------------------------------------------+
[1795258031.296348] [vm:30204:0]   | perftest intra-node cfg#0 | tagged message by ucp_tag_send*(multi) from host memory                             |
[1795258031.296349] [vm:30204:0]   +---------------------------+-------------------------------------------------+-----------------------------------+
[1795258031.296349] [vm:30204:0]   | 4                  0..626 | eager short                                     | tcp/lo                            |
[1795258031.296349] [vm:30204:0]   | 0               627..1862 | multi-frag eager copy-in copy-out               | tcp/lo                            |
[1795258031.296350] [vm:30204:0]   | 0               3129..inf | (?) rendezvous zero-copy fenced write to remote | 52% on tcp/lo and 48% on tcp/eth0 |
[1795258031.296350] [vm:30204:0]   +---------------------------+-------------------------------------------------+-----------------------------------+
[1795258031.296360] [vm:30204:0]   | perftest intra-node cfg#0 | rendezvous data fetch(multi) into host memory from host                  |
[1795258031.296360] [vm:30204:0]   +---------------------------+--------------------------------------+-----------------------------------+
[1795258031.296361] [vm:30204:0]   | 2                       0 | no data fetch                        |                                   |
[1795258031.296361] [vm:30204:0]   | 1007            2501..inf | (?) zero-copy fenced write to remote | 52% on tcp/lo and 48% on tcp/eth0 |
[1795258031.296362] [vm:30204:0]   +---------------------------+--------------------------------------+-----------------------------------+
)";

struct Expected {
  const char* log;
  std::uint64_t small, fetched;
};

class ProtocolTablesOf : public testing::TestWithParam<Expected> {};

TEST_P(ProtocolTablesOf, HaveTheRowsThatWereUsed) {
  const auto [log, small, fetched] = GetParam();
  const auto [used, rest] = parse_protocol_tables(log);
  ASSERT_EQ(used.size(), 3U);
  EXPECT_EQ(used[0].operation, "tagged message by ucp_tag_send*(multi) from host memory");
  EXPECT_EQ(used[0].range, "0..626");
  EXPECT_EQ(used[0].protocol, "eager short");
  EXPECT_EQ(used[0].device, "tcp/lo");
  EXPECT_EQ(used[0].count, small);
  EXPECT_EQ(used[1].range, "0");
  EXPECT_EQ(used[1].protocol, "no data fetch");
  EXPECT_EQ(used[1].device, "");
  EXPECT_EQ(used[2].operation, "rendezvous data fetch(multi) into host memory from host");
  EXPECT_EQ(used[2].range, "2501..inf");
  EXPECT_EQ(used[2].protocol, "zero-copy fenced write to remote");
  EXPECT_EQ(used[2].device, "52% on tcp/lo and 48% on tcp/eth0");
  EXPECT_EQ(used[2].count, fetched);
  EXPECT_EQ(rest, "");
}

INSTANTIATE_TEST_SUITE_P(Versions, ProtocolTablesOf,
                         testing::Values(Expected{of_1_22, 3, 1003}, Expected{of_1_21, 4, 1007}));

TEST(ProtocolTables, LeaveOtherLinesAlone) {
  const auto [used, rest] = parse_protocol_tables(
      "[1795257630.990714] [vm:23724:0]       ucp_worker.c:3049 UCX  WARN  a | b\n"
      "[1795257630.990714] [vm:23724:0]   |     7 |     0..inf | eager short | tcp/lo |\n"
      "| 5 | 0..inf | eager short | tcp/lo |\n");
  ASSERT_EQ(used.size(), 1U);
  EXPECT_EQ(used[0].count, 7U);
  EXPECT_EQ(rest,
            "[1795257630.990714] [vm:23724:0]       ucp_worker.c:3049 UCX  WARN  a | b\n"
            "| 5 | 0..inf | eager short | tcp/lo |\n");
}

TEST(ProtocolTables, OfNothing) {
  EXPECT_TRUE(parse_protocol_tables("").used.empty());
  EXPECT_EQ(parse_protocol_tables("").rest, "");
}

// Of the same, what ucp_ep_print_info prints in 1.22 and in 1.16 to 1.21.
constexpr const char* printed_by_1_22 = R"(# UCP endpoint
# +-----------+---------------------------------+--------+
# | ucx-bench intra-node cfg#0                            |
# | tagged message by ucp_tag_send*(multi) from host memory |
# +-----------+---------------------------------+--------+
# |   Range   |           Description           | Config |
# +-----------+---------------------------------+--------+
# |     0..92 | eager short                     | tcp/lo |
# |  93..256K | eager copy-in copy-out          | tcp/lo |
# | 262145..inf | (?) rendezvous zero-copy write | tcp/lo |
# +-----------+---------------------------------+--------+
)";
constexpr const char* printed_by_1_17 =
    R"(# +------------------------+------------------------------------+
# | ucx-bench intra-node cfg#0 | tagged message by ucp_tag_send*(multi) from host memory |
# +------------------------+------------------------------------+--------+
# |                  0..92 | eager short                        | tcp/lo |
# |               93..256K | eager copy-in copy-out             | tcp/lo |
# |            262145..inf | (?) rendezvous zero-copy write     | tcp/lo |
# +------------------------+------------------------------------+--------+
)";

TEST(ProtocolRanges, OfTables) {
  for (const auto* printed : {printed_by_1_22, printed_by_1_17}) {
    const auto ranges = parse_protocol_ranges(printed);
    ASSERT_EQ(ranges.size(), 3U);
    EXPECT_EQ(ranges[0].operation, "tagged message by ucp_tag_send*(multi) from host memory");
    EXPECT_EQ(ranges[0].from, 0U);
    EXPECT_EQ(ranges[0].to, 92U);
    EXPECT_EQ(ranges[1].to, 256U * 1024);
    EXPECT_EQ(ranges[1].device, "tcp/lo");
    EXPECT_EQ(ranges[2].from, 262145U);
    EXPECT_EQ(ranges[2].to, std::nullopt);
    EXPECT_EQ(ranges[2].protocol, "rendezvous zero-copy write");
  }
}

TEST(ProtocolRanges, OfTheOldEnginesThresholds) {
  // ucp_ep_config_print_proto, UCX 1.13.1.
  const auto ranges = parse_protocol_ranges(
      "#                tag_send: 0..<egr/short>..8185..<egr/bcopy>..65536..<rndv>..(inf)\n"
      "#             stream_send: 0..<egr/short>..0..<egr/bcopy>..(inf)\n"
      "#                  put[2]: 0..<short>..4435..<zcopy>..(inf)\n"
      "#                 lane[0]:  1:tcp/lo.0 md[0]      -> md[0]/tcp/sysdev[255]  am am_bw#0\n");
  ASSERT_EQ(ranges.size(), 6U);
  EXPECT_EQ(ranges[0].operation, "tag_send");
  EXPECT_EQ(ranges[0].to, 8184U);
  EXPECT_EQ(ranges[1].protocol, "egr/bcopy");
  EXPECT_EQ(ranges[1].from, 8185U);
  EXPECT_EQ(ranges[2].from, 65536U);
  EXPECT_EQ(ranges[2].to, std::nullopt);
  EXPECT_EQ(ranges[3].operation, "stream_send");
  EXPECT_EQ(ranges[3].protocol, "egr/bcopy");
  EXPECT_EQ(ranges[4].operation, "put");
  EXPECT_EQ(ranges[5].from, 4435U);
}

TEST(ProtocolRanges, OfNothingAndOfNonsense) {
  EXPECT_TRUE(parse_protocol_ranges("").empty());
  EXPECT_TRUE(parse_protocol_ranges("| a..b | eager | tcp/lo |\n| 5..4x | eager | tcp/lo |\n|\n||")
                  .empty());
  EXPECT_TRUE(parse_protocol_ranges("| 99999999999999999999T..inf | eager | tcp/lo |").empty());
}

}  // namespace
}  // namespace ucxbench
