#pragma once

#include <ucp/api/ucp.h>

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "harness/comm/choices.hpp"
#include "harness/transports/protocol_tables.hpp"

namespace ucxbench {

/// What threads of a rank use at the same time.
enum class Sharing {
  none,
  context,  ///< a worker each, of one context
  worker,
};

/// One UCX context with one worker, made as ucx_perftest makes them: the features of the APIs that
/// are used, single-threaded except for ProgressMode::thread and what is shared, wake-up only where
/// it is waited for. UCX reads its configuration from the environment, which is complete before
/// exec.
class UcxWorker {
 public:
  /// `counts` what its messages do, which costs each of them something; where it can. `settings`
  /// come after those of the environment: names are without "UCX_".
  UcxWorker(std::span<const Api> used, ProgressMode mode, bool counts = false,
            const std::map<std::string, std::string>& settings = {},
            Sharing sharing = Sharing::none);
  UcxWorker(Api api, ProgressMode mode, bool counts = false,
            const std::map<std::string, std::string>& settings = {},
            Sharing sharing = Sharing::none)
      : UcxWorker(std::span(&api, 1), mode, counts, settings, sharing) {}
  /// Another worker of the same context, for another thread: Sharing::context.
  std::unique_ptr<UcxWorker> another() const;
  ~UcxWorker();
  UcxWorker(const UcxWorker&) = delete;
  UcxWorker& operator=(const UcxWorker&) = delete;

  ucp_worker_h handle() const { return worker_; }
  ucp_context_h context() const { return context_.get(); }
  std::vector<std::uint8_t> address() const;

  /// Whether UCX can count the messages of a worker by protocol, and log it when the worker ends:
  /// from 1.21, unless the user reads that log.
  static bool can_count();

  /// Ends the worker. What it counted.
  std::vector<ProtocolUse> end();

  /// The settings as UCX reports them after reading environment and files: UCX_TLS → "tcp".
  const std::map<std::string, std::string>& effective() const { return effective_; }

 private:
  UcxWorker(std::shared_ptr<ucp_context> context, ucs_thread_mode_t mode);
  void create(ucs_thread_mode_t mode);

  std::shared_ptr<ucp_context> context_;
  ucp_worker_h worker_ = nullptr;
  std::map<std::string, std::string> effective_;
};

}  // namespace ucxbench
