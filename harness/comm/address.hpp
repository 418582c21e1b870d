#pragma once

#include <netinet/in.h>
#include <sys/socket.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ucxbench {

/// An IPv4 or IPv6 address, as a listener takes it and the rendezvous carries it.
struct Address {
  sockaddr_storage storage{};

  static Address from_bytes(const std::vector<std::uint8_t>& bytes);

  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage); }
  sockaddr* get() { return reinterpret_cast<sockaddr*>(&storage); }
  socklen_t length() const {
    return storage.ss_family == AF_INET6 ? sizeof(sockaddr_in6) : sizeof(sockaddr_in);
  }
  std::vector<std::uint8_t> bytes() const;
};

Address loopback();

/// The first IPv4 address of the first device that has one, else the first IPv6 address.
std::optional<Address> first_address(const std::vector<std::string>& devices);

/// The network device that has this address; empty: none here.
std::string device_of(const Address& address);

}  // namespace ucxbench
