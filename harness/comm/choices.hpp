#pragma once

#include <chrono>
#include <string>
#include <string_view>

// What a user chooses of how ranks communicate; names as on the command line and in case keys.

namespace ucxbench {

/// What moves messages.
enum class CommKind { ucx, sockets, mpi };
/// Throws Failure(Exit::usage).
CommKind parse_comm(std::string_view name);
std::string_view to_string(CommKind kind);
/// In a sentence: "UCX".
std::string device_name(CommKind kind);

/// How messages are sent; of the last five, the origin alone acts on its peer's memory.
enum class Api { tag, stream, am, put, get, fadd, swap, cswap };
/// Throws Failure(Exit::usage).
Api parse_api(std::string_view name);
std::string_view to_string(Api api);

constexpr bool is_atomic(Api api) {
  return api == Api::fadd || api == Api::swap || api == Api::cswap;
}
constexpr bool is_one_sided(Api api) {
  return api == Api::put || api == Api::get || is_atomic(api);
}
/// Whether an operation is done when its answer is back: there is no message the other way.
constexpr bool is_answered(Api api) { return api == Api::get || is_atomic(api); }

/// More ranks than the processors that they run on: some wait for theirs.
inline bool crowded(int ranks, int cpus) { return ranks > cpus; }

/// Who moves messages forward while an application waits, and when.
struct ProgressMode {
  enum class Kind {
    poll,      ///< the waiting thread, without pause (ucp_worker_progress)
    event,     ///< it sleeps on a file descriptor (UCX: the worker's wake-up)
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

/// The same of a device: "auto" of MPI, which has nothing to sleep on, is poll.
ProgressMode usual_progress(CommKind kind, ProgressMode asked, int ranks, int cpus);

enum class ConnectBy { address, sockaddr };
ConnectBy parse_connect_by(std::string_view name);
std::string_view to_string(ConnectBy by);

/// What an endpoint of UCX does when its peer is gone: nothing that is promised, or every operation
/// ends with an error (UCP_ERR_HANDLING_MODE_PEER).
enum class ErrorMode { none, peer };
ErrorMode parse_error_mode(std::string_view name);
std::string_view to_string(ErrorMode mode);

}  // namespace ucxbench
