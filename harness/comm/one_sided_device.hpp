#pragma once

#include <ucp/api/ucp.h>

#include <memory>

#include "harness/comm/device.hpp"
#include "harness/comm/worker.hpp"

namespace ucxbench {

/// The UCX device of a communicator whose user also puts and gets, by posting operations on its
/// endpoints: one worker has both features, and whatever makes progress for messages makes it for
/// operations too.
class OneSidedDevice : public CommDevice {
 public:
  virtual const UcxWorker& worker() const = 0;
  /// To another rank, once connected.
  virtual ucp_ep_h endpoint(int peer) const = 0;
};

/// Throws Failure(Exit::cannot_run).
std::unique_ptr<OneSidedDevice> make_one_sided_device(int rank, int size, const CommSetup& setup);

}  // namespace ucxbench
