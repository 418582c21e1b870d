#include "harness/comm/choices.hpp"

#include "harness/core/failure.hpp"
#include "harness/core/names.hpp"
#include "harness/core/text.hpp"
#include "harness/core/units.hpp"

namespace ucxbench {
namespace {

constexpr Names<Api, 8> apis = {{{Api::tag, "tag"},
                                 {Api::stream, "stream"},
                                 {Api::am, "am"},
                                 {Api::put, "put"},
                                 {Api::get, "get"},
                                 {Api::fadd, "fadd"},
                                 {Api::swap, "swap"},
                                 {Api::cswap, "cswap"}}};
constexpr Names<ErrorMode, 2> error_modes = {
    {{ErrorMode::none, "none"}, {ErrorMode::peer, "peer"}}};

}  // namespace

CommKind parse_comm(std::string_view name) {
  if (name == "ucx") return CommKind::ucx;
  if (name == "sockets") return CommKind::sockets;
  if (name == "mpi") return CommKind::mpi;
  throw Failure(Exit::usage, unknown_name("communication device", name, {"ucx", "sockets", "mpi"}));
}

std::string_view to_string(CommKind kind) {
  switch (kind) {
    case CommKind::sockets:
      return "sockets";
    case CommKind::mpi:
      return "mpi";
    case CommKind::ucx:
      break;
  }
  return "ucx";
}

Api parse_api(std::string_view name) { return parse_name(apis, name, "", "API"); }

std::string_view to_string(Api api) { return name_of(apis, api); }

std::string device_name(CommKind kind) {
  switch (kind) {
    case CommKind::sockets:
      return "the sockets device";
    case CommKind::mpi:
      return "MPI";
    case CommKind::ucx:
      break;
  }
  return "UCX";
}

ProgressMode ProgressMode::parse(std::string_view text) {
  constexpr std::string_view periodic = "periodic:";
  if (text == "auto") return {Kind::by_cpus, {}};
  if (text == "poll") return {Kind::poll, {}};
  if (text == "event") return {Kind::event, {}};
  if (text == "thread") return {Kind::thread, {}};
  if (text.starts_with(periodic)) {
    return {Kind::periodic, parse_duration(text.substr(periodic.size()))};
  }
  throw Failure(Exit::usage, unknown_name("progress mode", text,
                                          {"auto", "poll", "event", "thread", "periodic:100us"}));
}

std::string ProgressMode::name() const {
  switch (kind) {
    case Kind::poll:
      return "poll";
    case Kind::event:
      return "event";
    case Kind::thread:
      return "thread";
    case Kind::by_cpus:
      return "auto";
    case Kind::periodic:
      break;
  }
  return "periodic:" + format_duration(period);
}

ProgressMode ProgressMode::in(int ranks, int cpus) const {
  if (kind != Kind::by_cpus) return *this;
  return {crowded(ranks, cpus) ? Kind::event : Kind::poll, {}};
}

ProgressMode usual_progress(CommKind kind, ProgressMode asked, int ranks, int cpus) {
  return asked.in(ranks, kind == CommKind::mpi ? ranks : cpus);
}

ConnectBy parse_connect_by(std::string_view name) {
  if (name == "address") return ConnectBy::address;
  if (name == "sockaddr") return ConnectBy::sockaddr;
  throw Failure(Exit::usage, unknown_name("way to connect", name, {"address", "sockaddr"}));
}

std::string_view to_string(ConnectBy by) {
  return by == ConnectBy::address ? "address" : "sockaddr";
}

ErrorMode parse_error_mode(std::string_view name) {
  return parse_name(error_modes, name, "", "error mode");
}

std::string_view to_string(ErrorMode mode) { return name_of(error_modes, mode); }

}  // namespace ucxbench
