#include "harness/transports/error_counters.hpp"

#include "harness/core/folder_for_test.hpp"

namespace ucxbench {
namespace {

class ErrorCountersOf : public FolderLikeSys {
 protected:
  auto read() const { return read_error_counters(false, root_); }
};

using Found = std::map<std::string, std::uint64_t>;

TEST_F(ErrorCountersOf, TcpAreTheKernels) {
  write("proc/net/snmp",
        "Ip: Forwarding InErrs\nIp: 2 9\n"
        "Tcp: MaxConn InSegs RetransSegs InErrs\nTcp: -1 500 17 0\nUdp: InErrors\nUdp: 3");
  EXPECT_EQ(read(), (Found{{"tcp/RetransSegs", 17}, {"tcp/InErrs", 0}}));
  write("proc/net/snmp", "Tcp: RetransSegs");
  EXPECT_EQ(read(), Found());
}

TEST_F(ErrorCountersOf, DevicesAreLossesAndErrors) {
  write("sys/class/net/eth0/statistics/rx_missed_errors", "4");
  write("sys/class/net/eth0/statistics/rx_bytes", "4000");
  write("sys/class/net/eth0/statistics/rx_dropped", "7");
  write("sys/class/infiniband/mlx5_0/ports/1/counters/symbol_error", "2");
  write("sys/class/infiniband/mlx5_0/ports/1/counters/port_xmit_wait", "1000");
  write("sys/class/infiniband/mlx5_0/ports/1/counters/port_xmit_data", "9");
  write("sys/class/infiniband/rxe0/ports/1/hw_counters/rcvd_seq_err", "1");
  EXPECT_EQ(read(), (Found{{"net/eth0/rx_missed_errors", 4},
                           {"ib/mlx5_0:1/symbol_error", 2},
                           {"ib/mlx5_0:1/port_xmit_wait", 1000},
                           {"ib/rxe0:1/rcvd_seq_err", 1}}));
}

TEST_F(ErrorCountersOf, NothingAreNone) { EXPECT_EQ(read(), Found()); }

TEST(MovedErrorCounters, AreThoseThatGrew) {
  EXPECT_EQ(moved_error_counters({{"a", 1}, {"b", 2}, {"c", 3}}, {{"a", 1}, {"b", 5}, {"d", 9}}),
            Json::array({{{"name", "b"}, {"before", 2}, {"after", 5}}}));
  EXPECT_EQ(moved_error_counters({{"a", 9}}, {{"a", 1}}), Json::array());  // started again
}

}  // namespace
}  // namespace ucxbench
