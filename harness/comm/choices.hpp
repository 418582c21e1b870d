#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "harness/core/names.hpp"

// What a user chooses of how ranks communicate; names as on the command line and in case keys.

namespace ucxbench {

/// What moves messages.
enum class CommKind { ucx, sockets, mpi };
inline constexpr Names<CommKind, 3> comm_names = {
    {{CommKind::ucx, "ucx"},
     {CommKind::sockets, "sockets", "TCP; shm: Unix sockets"},
     {CommKind::mpi, "mpi", "Open MPI"}}};
constexpr std::string_view to_string(CommKind kind) { return name_of(comm_names, kind); }
/// In a sentence: "UCX".
std::string device_name(CommKind kind);

/// How messages are sent; of the last five, the origin alone acts on its peer's memory.
enum class Api { tag, stream, am, put, get, fadd, swap, cswap };
inline constexpr Names<Api, 8> api_names = {{{Api::tag, "tag"},
                                             {Api::stream, "stream"},
                                             {Api::am, "am", "active messages"},
                                             {Api::put, "put"},
                                             {Api::get, "get"},
                                             {Api::fadd, "fadd"},
                                             {Api::swap, "swap"},
                                             {Api::cswap, "cswap"}}};
/// Throws Failure(Exit::usage).
Api parse_api(std::string_view name);
constexpr std::string_view to_string(Api api) { return name_of(api_names, api); }

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

  /// A name of progress_mode_names, "periodic:" with any time. Throws Failure(Exit::usage).
  static ProgressMode parse(std::string_view text);
  std::string name() const;

  /// Of `ranks` that run on `cpus` processors: "auto" is poll where each rank can have one of its
  /// own, and event where not, since polling ranks take each other's time. Others are what they
  /// are.
  ProgressMode in(int ranks, int cpus) const;
};

/// The same of a device: "auto" of MPI, which has nothing to sleep on, is poll.
ProgressMode usual_progress(CommKind kind, ProgressMode asked, int ranks, int cpus);

/// The first three are every benchmark's.
inline constexpr Names<ProgressMode::Kind, 5> progress_mode_names = {
    {{ProgressMode::Kind::by_cpus, "auto", "event where ranks outnumber the CPUs"},
     {ProgressMode::Kind::poll, "poll"},
     {ProgressMode::Kind::event, "event"},
     {ProgressMode::Kind::thread, "thread"},
     {ProgressMode::Kind::periodic, "periodic:100us"}}};

enum class ConnectBy { address, sockaddr };
inline constexpr Names<ConnectBy, 2> connect_by_names = {
    {{ConnectBy::address, "address"}, {ConnectBy::sockaddr, "sockaddr", "a UCP listener"}}};
constexpr std::string_view to_string(ConnectBy by) { return name_of(connect_by_names, by); }

/// What an endpoint of UCX does when its peer is gone: nothing that is promised, or every operation
/// ends with an error (UCP_ERR_HANDLING_MODE_PEER).
enum class ErrorMode { none, peer };
inline constexpr Names<ErrorMode, 2> error_mode_names = {
    {{ErrorMode::none, "none"}, {ErrorMode::peer, "peer", "operations end when the peer is gone"}}};
constexpr std::string_view to_string(ErrorMode mode) { return name_of(error_mode_names, mode); }

}  // namespace ucxbench
