#include <dlfcn.h>
#include <gtest/gtest.h>
#include <ucp/api/ucp.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <thread>

#include "harness/comm/progress.hpp"
#include "harness/comm/worker.hpp"
#include "harness/memory/cuda_driver.hpp"
#include "harness/transports/ucx_error.hpp"

namespace ucxbench {
namespace {

/// What a callback of UCX finds on the thread that progresses.
struct Found {
  std::atomic<bool> called{false};
  std::thread::id thread;
  void* context = nullptr;
};

void* current_context() {
  using GetCurrent = int (*)(void**);
  const auto get_current = reinterpret_cast<GetCurrent>(::dlsym(RTLD_DEFAULT, "cuCtxGetCurrent"));
  void* context = nullptr;
  if (get_current != nullptr && get_current(&context) != 0) context = nullptr;
  return context;
}

void look_around(void* request, ucs_status_t /*status*/, const ucp_tag_recv_info_t* /*info*/,
                 void* argument) {
  auto& found = *static_cast<Found*>(argument);
  found.thread = std::this_thread::get_id();
  found.context = current_context();
  found.called.store(true);
  ucp_request_free(request);
}

ucp_ep_h endpoint_to(const UcxWorker& worker) {
  const auto address = worker.address();
  ucp_ep_params_t params{};
  params.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS;
  params.address = reinterpret_cast<const ucp_address_t*>(address.data());
  ucp_ep_h endpoint = nullptr;
  check(ucp_ep_create(worker.handle(), &params, &endpoint), "ucp_ep_create");
  return endpoint;
}

// UCX 1.17 and 1.18 copy GPU memory on that thread with whatever context it has; newer ones look
// after it themselves, so that with them no transfer shows whether it has one.
TEST(ThreadProgress, HasTheProcesssContext) {
  ::setenv("UCX_TLS", "tcp", 1);
  ::setenv("UCX_NET_DEVICES", "lo", 1);
  const CudaContext context(0);
  ASSERT_NE(current_context(), nullptr);
  const UcxWorker worker(Api::tag, ProgressMode::parse("thread"));
  ThreadProgress progress(worker.handle());

  Found found;
  std::array<std::byte, 8> taken{};
  ucp_request_param_t receive{};
  receive.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA;
  receive.cb.recv = look_around;
  receive.user_data = &found;
  const auto* posted =
      ucp_tag_recv_nbx(worker.handle(), taken.data(), taken.size(), 1, ~ucp_tag_t{0}, &receive);
  ASSERT_TRUE(UCS_PTR_IS_PTR(posted));

  const std::array<std::byte, 8> sent{};
  ucp_request_param_t send{};
  auto* sending = ucp_tag_send_nbx(endpoint_to(worker), sent.data(), sent.size(), 1, &send);
  ASSERT_FALSE(UCS_PTR_IS_ERR(sending));
  ucp_worker_signal(worker.handle());
  while (!found.called.load()) std::this_thread::yield();
  EXPECT_NE(found.thread, std::this_thread::get_id());
  EXPECT_EQ(found.context, current_context());
  if (sending != nullptr) ucp_request_free(sending);
}

}  // namespace
}  // namespace ucxbench
