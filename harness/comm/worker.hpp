#pragma once

#include <ucp/api/ucp.h>

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "harness/transports/protocol_tables.hpp"

namespace ucxbench {

enum class Api { tag, stream };
Api parse_api(std::string_view name);
std::string_view to_string(Api api);

/// More ranks than the processors that they run on: some wait for theirs.
inline bool crowded(int ranks, int cpus) { return ranks > cpus; }

/// Who moves UCX forward while an application waits, and when.
struct ProgressMode {
  enum class Kind {
    poll,      ///< the waiting thread calls ucp_worker_progress without pause
    event,     ///< it sleeps on the worker's wake-up file descriptor
    thread,    ///< a second thread does, and wakes the waiting one
    periodic,  ///< it progresses at the ticks of a timer, as an asyncio program does
    by_cpus,   ///< "auto": what in() says; no worker has it
  };
  Kind kind = Kind::poll;
  std::chrono::nanoseconds period{0};  ///< of `periodic`

  /// "auto", "poll", "event", "thread", "periodic:100us". Throws Failure(Exit::usage).
  static ProgressMode parse(std::string_view text);
  std::string name() const;

  /// Of `ranks` that run on `cpus` processors: "auto" is poll where each rank can have one of its
  /// own, and event where not, since polling ranks take each other's time. Others are what they
  /// are.
  ProgressMode in(int ranks, int cpus) const;
};

/// One UCX context with one worker, made as ucx_perftest makes them: the features of the one API
/// that is used, single-threaded except for ProgressMode::thread, wake-up only where it is waited
/// for. UCX reads its configuration from the environment, which is complete before exec.
class UcxWorker {
 public:
  /// `counts` what its messages do, which costs each of them something; where it can.
  UcxWorker(Api api, ProgressMode mode, bool counts = false);
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
