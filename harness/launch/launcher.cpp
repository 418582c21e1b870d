#include "harness/launch/launcher.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <array>
#include <string_view>

#include "harness/core/failure.hpp"
#include "harness/core/fd.hpp"
#include "harness/launch/environment.hpp"
#include "harness/launch/launched_by.hpp"
#include "harness/launch/pmix.hpp"
#include "harness/launch/slurm.hpp"

namespace ucxbench {
std::string address_in_uri(const std::string& uri) {
  constexpr std::string_view scheme = "tcp://";
  const auto begin = uri.find(scheme);
  if (begin == std::string::npos) return "";
  const auto address = uri.substr(begin + scheme.size());
  const auto end = address.find_first_of(",:;");
  const bool dotted = address.find_first_not_of("0123456789.") == end;
  return end != std::string::npos && dotted ? address.substr(0, end) : "";
}

std::string address_towards(const std::string& host) {
  addrinfo hints{};
  hints.ai_family = AF_INET;
  hints.ai_socktype = SOCK_DGRAM;
  addrinfo* found = nullptr;
  if (host.empty() || ::getaddrinfo(host.c_str(), "9", &hints, &found) != 0) return "";
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> release(found, &::freeaddrinfo);
  // Nothing is sent: the kernel only chooses the way.
  const Fd socket(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  sockaddr_in own{};
  socklen_t size = sizeof own;
  if (!socket || ::connect(socket.get(), found->ai_addr, found->ai_addrlen) != 0 ||
      ::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&own), &size) != 0) {
    return "";
  }
  std::array<char, INET_ADDRSTRLEN> text{};
  ::inet_ntop(AF_INET, &own.sin_addr, text.data(), text.size());
  return text.data();
}

void ask_for_address() {
  throw Failure(Exit::usage,
                "the launcher does not say by which address the other hosts reach "
                "the first one: give it with --listen IP:PORT");
}

std::unique_ptr<Launcher> find_launcher() {
  const auto by = launched_by(current_environment());
  std::unique_ptr<Launcher> found;
  switch (by.kind) {
    case LaunchedBy::Kind::nobody:
      return nullptr;
    case LaunchedBy::Kind::slurm:
      return meet_by_slurm(by.rank, by.size);
    case LaunchedBy::Kind::pmix:
      found = meet_by_pmix();
      if (by.size < 2 || found->count() == by.size) break;
      [[fallthrough]];
    case LaunchedBy::Kind::other:
      // Each process would measure for itself.
      throw Failure(Exit::cannot_run,
                    fmt::format("a launcher has started {} processes ({}) without PMIx, by which "
                                "they find each other; use Open MPI's mpirun, srun, or --listen "
                                "and --connect from a shell on each host",
                                by.size, by.variable));
  }
  return found->count() > 1 ? std::move(found) : nullptr;
}

}  // namespace ucxbench
