#include "harness/core/strangers.hpp"

#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <map>

namespace ucxbench {

std::string source_of(int fd) {
  sockaddr_storage peer{};
  socklen_t size = sizeof peer;
  if (::getpeername(fd, reinterpret_cast<sockaddr*>(&peer), &size) != 0) return "";
  const auto text = [](const void* bytes, std::size_t length) {
    return std::string(static_cast<const char*>(bytes), length);
  };
  if (peer.ss_family == AF_INET) {
    const auto& address = reinterpret_cast<const sockaddr_in&>(peer).sin_addr;
    return text(&address, sizeof address);
  }
  if (peer.ss_family != AF_INET6) return "";
  // Who has one address of such a network usually has all of them.
  constexpr std::size_t network_bytes = 8;
  return text(&reinterpret_cast<const sockaddr_in6&>(peer).sin6_addr, network_bytes);
}

std::optional<std::size_t> one_too_many(const std::vector<std::string>& sources,
                                        std::size_t wanted) {
  std::map<std::string, std::size_t> open;
  for (const auto& source : sources) ++open[source];
  const auto count_of = [](const auto& entry) { return entry.second; };
  const auto most = std::ranges::max_element(open, {}, count_of);
  if (most == open.end() || (most->second <= most_strangers_of_a_source + wanted &&
                             sources.size() <= most_strangers + wanted)) {
    return std::nullopt;
  }
  return static_cast<std::size_t>(std::ranges::find(sources, most->first) - sources.begin());
}

}  // namespace ucxbench
