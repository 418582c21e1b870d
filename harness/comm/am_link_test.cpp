#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>

#include "harness/comm/ucx_am_link.hpp"
#include "harness/core/failure.hpp"

namespace ucxbench {
namespace {

/// Moves both sides, since one thread plays them.
class BothProgress {
 public:
  using Count = int;
  BothProgress(ucp_worker_h one, ucp_worker_h other) : one_(one), other_(other) {}

  template <typename Done>
  void until(Done done) {
    const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    while (!done()) {
      turn();
      if (std::chrono::steady_clock::now() > limit) throw Failure(Exit::lost, "nothing came");
    }
  }
  void turn() {
    ucp_worker_progress(one_);
    ucp_worker_progress(other_);
  }
  void completed() {}

 private:
  ucp_worker_h one_, other_;
};

ucp_ep_h connected(const UcxWorker& here, const UcxWorker& there) {
  const auto address = there.address();
  ucp_ep_params_t params{};
  params.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS;
  params.address = reinterpret_cast<const ucp_address_t*>(address.data());
  ucp_ep_h endpoint = nullptr;
  check(ucp_ep_create(here.handle(), &params, &endpoint), "ucp_ep_create");
  return endpoint;
}

class ActiveMessage : public testing::Test {
 protected:
  static constexpr std::size_t room = std::size_t{1} << 20U;

  ActiveMessage() { from_.fill(room, 1); }

  LinkBuffers buffers(std::size_t bytes) {
    return {.send = from_.data(), .receive = into_.data(), .bytes = bytes};
  }

  void expect_refusal(const LinkBuffers& sent, const LinkBuffers& expected) {
    sender_.use(sent);
    receiver_.use(expected);
    sender_.send();
    receiver_.receive();
    EXPECT_THROW(receiver_.wait_receives(), Failure);
    // What would be too long is not written.
    const Buffer zeros(MemoryKind::host, room);
    EXPECT_EQ(std::memcmp(into_.data(), zeros.data(), room), 0);
  }

  Buffer from_{MemoryKind::host, room};
  Buffer into_{MemoryKind::host, room};

 private:
  static UcxWorker worker_over_tcp() {
    ::setenv("UCX_TLS", "tcp", 1);
    ::setenv("UCX_NET_DEVICES", "lo", 1);
    return {Api::am, {}};
  }

  UcxWorker here_ = worker_over_tcp();
  UcxWorker there_ = worker_over_tcp();
  BothProgress progress_{here_.handle(), there_.handle()};
  AmLink<BothProgress> sender_{here_.handle(), connected(here_, there_), progress_};
  AmLink<BothProgress> receiver_{there_.handle(), connected(there_, here_), progress_};
};

TEST_F(ActiveMessage, OfAnotherLengthIsAnError) { expect_refusal(buffers(16), buffers(8)); }

TEST_F(ActiveMessage, OfAnotherLengthByRendezvousIsAnError) {
  expect_refusal(buffers(room), buffers(8));
}

TEST_F(ActiveMessage, OfAnotherHeaderIsAnError) {
  const auto with_header = [this](std::size_t header_bytes) {
    auto both = buffers(16);
    both.form = {.header = from_.data() + 32,
                 .received_header = into_.data() + 32,
                 .header_bytes = header_bytes};
    return both;
  };
  expect_refusal(with_header(24), with_header(8));
}

}  // namespace
}  // namespace ucxbench
