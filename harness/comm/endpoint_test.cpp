#include "harness/comm/endpoint.hpp"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <functional>

#include "harness/comm/meeting_for_test.hpp"
#include "harness/transports/lanes.hpp"

namespace {

std::function<void()> before_the_listener_ends;

}  // namespace

// In place of the library's: a test may have the listener stay until another client has come.
extern "C" void ucp_listener_destroy(ucp_listener_h listener) {
  static const auto original =
      reinterpret_cast<decltype(&ucp_listener_destroy)>(::dlsym(RTLD_NEXT, "ucp_listener_destroy"));
  if (before_the_listener_ends) before_the_listener_ends();
  original(listener);
}

namespace ucxbench {
namespace {

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

// Two clients come while the server listens: one is taken, the other told that it is not.
class TwoClients final : public MeetingRank {
 public:
  using MeetingRank::MeetingRank;

  void put(std::string_view, const Bytes& address, const Progress&) override {
    for (auto& client : clients_) {
      ucp_ep_params_t params{};
      params.field_mask = UCP_EP_PARAM_FIELD_SOCK_ADDR | UCP_EP_PARAM_FIELD_FLAGS |
                          UCP_EP_PARAM_FIELD_ERR_HANDLER | UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE;
      params.flags = UCP_EP_PARAMS_FLAGS_CLIENT_SERVER;
      params.sockaddr = {reinterpret_cast<const sockaddr*>(address.data()),
                         static_cast<socklen_t>(address.size())};
      params.err_mode = UCP_ERR_HANDLING_MODE_PEER;
      params.err_handler = {[](void* seen, ucp_ep_h, ucs_status_t status) {
                              *static_cast<ucs_status_t*>(seen) = status;
                            },
                            &client.seen};
      ucp_ep_h endpoint = nullptr;
      ASSERT_EQ(ucp_ep_create(client.worker.handle(), &params, &endpoint), UCS_OK);
    }
  }

  void turn() {
    for (auto& client : clients_) ucp_worker_progress(client.worker.handle());
  }
  int refused() const {
    return static_cast<int>(std::ranges::count(clients_, UCS_ERR_REJECTED, &Client::seen));
  }

 private:
  struct Client {
    UcxWorker worker{Api::tag, {}};
    ucs_status_t seen = UCS_OK;
  };
  std::array<Client, 2> clients_;
};

TEST(Listener, TakesOneClientAndRefusesOthers) {
  ::setenv("UCX_TLS", "tcp", 1);
  ::setenv("UCX_NET_DEVICES", "lo", 1);
  const UcxWorker server(Api::tag, {});
  Meeting meeting;
  TwoClients rendezvous(meeting, 0, 2);
  const auto step = [&] {
    ucp_worker_progress(server.handle());
    rendezvous.turn();
  };
  before_the_listener_ends = [&] {
    const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    while (rendezvous.refused() == 0 && std::chrono::steady_clock::now() < limit) step();
  };
  ASSERT_NE(connect_by_sockaddr(server, rendezvous, 1, "test", "lo", step), nullptr);
  before_the_listener_ends = nullptr;
  EXPECT_EQ(rendezvous.refused(), 1);
}

}  // namespace
}  // namespace ucxbench
