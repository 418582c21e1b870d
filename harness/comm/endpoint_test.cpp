#include "harness/comm/endpoint.hpp"

#include <gtest/gtest.h>

#include <cstdlib>

#include "harness/core/failure.hpp"

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

TEST(Lanes, AreTheSameInBothWords) {
  ::setenv("UCX_TLS", "tcp,sm", 1);
  ::setenv("UCX_NET_DEVICES", "lo", 1);
  const UcxWorker here(Api::tag, ProgressMode::parse("poll"));
  const UcxWorker there(Api::tag, ProgressMode::parse("poll"));
  const auto address = there.address();
  ucp_ep_params_t params{};
  params.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS;
  params.address = reinterpret_cast<const ucp_address_t*>(address.data());
  ucp_ep_h endpoint = nullptr;
  ASSERT_EQ(ucp_ep_create(here.handle(), &params, &endpoint), UCS_OK);
  const auto printed = printed_lanes(endpoint);
  EXPECT_FALSE(printed.empty());
  const auto queried = queried_lanes(endpoint);
  if (queried.empty()) GTEST_SKIP() << "this UCX is older than 1.14";
  EXPECT_EQ(queried, printed);
}

TEST(ConnectBy, KnowsTwoWays) {
  EXPECT_EQ(to_string(parse_connect_by("address")), "address");
  EXPECT_EQ(to_string(parse_connect_by("sockaddr")), "sockaddr");
  EXPECT_THROW(parse_connect_by("pigeon"), Failure);
}

}  // namespace
}  // namespace ucxbench
