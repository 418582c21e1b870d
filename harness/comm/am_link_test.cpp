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

// What another length than the receiver's would overwrite is not written.
TEST(ActiveMessage, OfAnotherLengthIsAnError) {
  ::setenv("UCX_TLS", "tcp", 1);
  ::setenv("UCX_NET_DEVICES", "lo", 1);
  for (const std::size_t bytes : {std::size_t{16}, std::size_t{1} << 20U}) {
    const auto clock = Clock::calibrate();
    const UcxWorker here(Api::am, {});
    const UcxWorker there(Api::am, {});
    BothProgress progress(here.handle(), there.handle());
    AmLink sender(here.handle(), connected(here, there), progress, clock);
    AmLink receiver(there.handle(), connected(there, here), progress, clock);
    Buffer from(MemoryKind::host, bytes);
    Buffer into(MemoryKind::host, bytes);
    from.fill(bytes, 1);
    sender.use({.send = from.data(), .receive = into.data(), .bytes = bytes});
    receiver.use({.send = from.data(), .receive = into.data(), .bytes = 8});
    sender.send();
    receiver.receive();
    EXPECT_THROW(receiver.wait_receives(), Failure);
    const Buffer zeros(MemoryKind::host, bytes);
    EXPECT_EQ(std::memcmp(into.data(), zeros.data(), bytes), 0);
  }
}

// Nor is a header of another length.
TEST(ActiveMessage, OfAnotherHeaderIsAnError) {
  ::setenv("UCX_TLS", "tcp", 1);
  ::setenv("UCX_NET_DEVICES", "lo", 1);
  const auto clock = Clock::calibrate();
  const UcxWorker here(Api::am, {});
  const UcxWorker there(Api::am, {});
  BothProgress progress(here.handle(), there.handle());
  AmLink sender(here.handle(), connected(here, there), progress, clock);
  AmLink receiver(there.handle(), connected(there, here), progress, clock);
  Buffer from(MemoryKind::host, 64);
  Buffer into(MemoryKind::host, 64);
  from.fill(64, 1);
  const auto buffers = [&](std::size_t header_bytes) {
    return LinkBuffers{.send = from.data(),
                       .receive = into.data(),
                       .bytes = 16,
                       .form = {.header = from.data() + 32,
                                .received_header = into.data() + 32,
                                .header_bytes = header_bytes}};
  };
  sender.use(buffers(24));
  receiver.use(buffers(8));
  sender.send();
  receiver.receive();
  EXPECT_THROW(receiver.wait_receives(), Failure);
  const Buffer zeros(MemoryKind::host, 64);
  EXPECT_EQ(std::memcmp(into.data(), zeros.data(), 64), 0);
}

}  // namespace
}  // namespace ucxbench
