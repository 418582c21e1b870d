// Preloaded by the tests: each message sent by tag waits DELAY_US microseconds first, so that one
// of two environments is slower from outside, by far more than any noise of the machine. With
// DELAY_UNLESS, "NAME=VALUE", only where the environment has no such variable. The last-level cache
// is small, so that cold buffers, of twice its size, take no gigabytes.

#include <dlfcn.h>
#include <ucp/api/ucp.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

namespace {

bool is_spared() {
  const char* text = std::getenv("DELAY_UNLESS");
  if (text == nullptr) return false;
  const std::string unless = text;
  const auto equals = unless.find('=');
  const char* value = std::getenv(unless.substr(0, equals).c_str());
  return value != nullptr && equals != std::string::npos && unless.substr(equals + 1) == value;
}

unsigned delay_us() {
  const char* text = std::getenv("DELAY_US");
  if (text == nullptr || is_spared()) return 0;
  return static_cast<unsigned>(std::strtoul(text, nullptr, 10));
}

}  // namespace

extern "C" ucs_status_ptr_t ucp_tag_send_nbx(ucp_ep_h endpoint, const void* buffer, size_t count,
                                             ucp_tag_t tag, const ucp_request_param_t* parameters) {
  static const auto real =
      reinterpret_cast<decltype(&ucp_tag_send_nbx)>(dlsym(RTLD_NEXT, "ucp_tag_send_nbx"));
  static const auto delay = delay_us();
  if (delay > 0) usleep(delay);
  return real(endpoint, buffer, count, tag, parameters);
}

extern "C" long sysconf(int name) noexcept {
  static const auto real = reinterpret_cast<decltype(&sysconf)>(dlsym(RTLD_NEXT, "sysconf"));
  return name == _SC_LEVEL3_CACHE_SIZE ? 1 << 20 : real(name);
}
