#pragma once

#include <ucp/api/ucp.h>

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "harness/comm/choices.hpp"
#include "harness/transports/protocol_tables.hpp"

namespace ucxbench {

/// One UCX context with one worker, made as ucx_perftest makes them: the features of the APIs that
/// are used, single-threaded except for ProgressMode::thread, wake-up only where it is waited
/// for. UCX reads its configuration from the environment, which is complete before exec.
class UcxWorker {
 public:
  /// `counts` what its messages do, which costs each of them something; where it can. `settings`
  /// come after those of the environment: names are without "UCX_".
  UcxWorker(std::span<const Api> used, ProgressMode mode, bool counts = false,
            const std::map<std::string, std::string>& settings = {});
  UcxWorker(Api api, ProgressMode mode, bool counts = false,
            const std::map<std::string, std::string>& settings = {})
      : UcxWorker(std::span(&api, 1), mode, counts, settings) {}
  ~UcxWorker();
  UcxWorker(const UcxWorker&) = delete;
  UcxWorker& operator=(const UcxWorker&) = delete;

  ucp_worker_h handle() const { return worker_; }
  ucp_context_h context() const { return context_; }
  std::vector<std::uint8_t> address() const;

  /// Whether UCX can count the messages of a worker by protocol, and log it when the worker ends:
  /// from 1.21, unless the user reads that log.
  static bool can_count();

  /// Ends the worker. What it counted.
  std::vector<ProtocolUse> end();

  /// The settings as UCX reports them after reading environment and files: UCX_TLS → "tcp".
  const std::map<std::string, std::string>& effective() const { return effective_; }

 private:
  ucp_context_h context_ = nullptr;
  ucp_worker_h worker_ = nullptr;
  std::map<std::string, std::string> effective_;
};

}  // namespace ucxbench
