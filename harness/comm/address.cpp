#include "harness/comm/address.hpp"

#include <ifaddrs.h>

#include <algorithm>
#include <cstring>
#include <memory>

namespace ucxbench {
namespace {

using Interfaces = std::unique_ptr<ifaddrs, decltype(&freeifaddrs)>;

Interfaces all_interfaces() {
  ifaddrs* all = nullptr;
  if (getifaddrs(&all) != 0) all = nullptr;
  return {all, &freeifaddrs};
}

// Whatever the port.
bool same_host(const Address& one, const sockaddr* other) {
  if (one.storage.ss_family != other->sa_family) return false;
  if (other->sa_family == AF_INET) {
    return reinterpret_cast<const sockaddr_in*>(&one.storage)->sin_addr.s_addr ==
           reinterpret_cast<const sockaddr_in*>(other)->sin_addr.s_addr;
  }
  return std::memcmp(&reinterpret_cast<const sockaddr_in6*>(&one.storage)->sin6_addr,
                     &reinterpret_cast<const sockaddr_in6*>(other)->sin6_addr,
                     sizeof(in6_addr)) == 0;
}

}  // namespace

Address Address::from_bytes(const std::vector<std::uint8_t>& bytes) {
  Address address;
  std::memcpy(&address.storage, bytes.data(), std::min(bytes.size(), sizeof address.storage));
  return address;
}

std::vector<std::uint8_t> Address::bytes() const {
  const auto* begin = reinterpret_cast<const std::uint8_t*>(&storage);
  return {begin, begin + length()};
}

Address loopback() {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  Address result;
  std::memcpy(&result.storage, &address, sizeof address);
  return result;
}

std::optional<Address> first_address(const std::vector<std::string>& devices) {
  const auto all = all_interfaces();
  for (const auto family : {AF_INET, AF_INET6}) {
    for (const auto& device : devices) {
      for (const auto* entry = all.get(); entry != nullptr; entry = entry->ifa_next) {
        if (entry->ifa_addr == nullptr || entry->ifa_addr->sa_family != family) continue;
        if (device != entry->ifa_name) continue;
        Address found;
        found.storage.ss_family = static_cast<sa_family_t>(family);
        std::memcpy(&found.storage, entry->ifa_addr, found.length());
        return found;
      }
    }
  }
  return std::nullopt;
}

std::string device_of(const Address& address) {
  const auto all = all_interfaces();
  for (const auto* entry = all.get(); entry != nullptr; entry = entry->ifa_next) {
    if (entry->ifa_addr == nullptr) continue;
    const auto family = entry->ifa_addr->sa_family;
    if ((family == AF_INET || family == AF_INET6) && same_host(address, entry->ifa_addr)) {
      return entry->ifa_name;
    }
  }
  return "";
}

}  // namespace ucxbench
