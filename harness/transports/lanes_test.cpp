#include "harness/transports/lanes.hpp"

#include <gtest/gtest.h>

namespace ucxbench {
namespace {

TEST(Lanes, AreReadFromUcxsPrintOut) {
  // As UCX 1.13.1 prints it.
  constexpr std::string_view printed =
      "#\n# UCP endpoint \n#\n#               peer: <no debug data>\n"
      "#                 lane[0]:  2:posix/memory.0 md[1]   -> md[1]/posix/sysdev[255] am am_bw#0\n"
      "#                 lane[1]:  3:cma/memory.0 md[2]     -> md[2]/cma/sysdev[255] rma_bw#0\n"
      "#                 lane[2]:  0:tcp/lo.0 md[0]         -> md[0]/tcp/sysdev[255] wireup\n"
      "#                 lane[3]:  0:tcp/lo.1 md[0]         -> md[0]/tcp/sysdev[255]\n"
      "#                tag_send: 0..<egr/short>..8184..<egr/bcopy>..\n";
  EXPECT_EQ(parse_lanes(printed),
            (std::vector<std::string>{"posix/memory", "cma/memory", "tcp/lo"}));
  EXPECT_TRUE(parse_lanes("").empty());
}

TEST(Lanes, OfVlansAndPartitionsHaveWholeNames) {
  constexpr std::string_view printed =
      "# lane[0]:  0:tcp/eth0.100.0 md[0] -> md[0]/tcp/sysdev[255] am am_bw#0\n"
      "# lane[1]:  1:tcp/ib0.8001.1 md[0] -> md[0]/tcp/sysdev[255]\n"
      "# lane[2]:  2:rc_mlx5/mlx5_0:1.0 md[1] -> md[1]/ib/sysdev[1]\n";
  EXPECT_EQ(parse_lanes(printed),
            (std::vector<std::string>{"tcp/eth0.100", "tcp/ib0.8001", "rc_mlx5/mlx5_0:1"}));
}

}  // namespace
}  // namespace ucxbench
