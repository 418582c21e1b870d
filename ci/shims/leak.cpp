// Preloaded by the tests of soak: a leak of memory and of open files.
//   LEAK_IN   "ranks": with each tag message that a rank sends; "program": with each rank that the
//             program starts

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <ucp/api/ucp.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <string>

namespace {

bool leaks_in(const char* who) {
  const char* wanted = std::getenv("LEAK_IN");
  return wanted != nullptr && std::string(wanted) == who;
}

void leak(std::size_t bytes, bool file) {
  // Written to, so that it is not only address space; known elsewhere, so that it is not left out.
  static void* volatile last = nullptr;
  last = std::malloc(bytes);
  if (last != nullptr) std::memset(last, 1, bytes);
  if (file && open("/dev/null", O_RDONLY | O_CLOEXEC) < 0) std::abort();
}

// soak looks at its ranks every 20 ms.
[[gnu::destructor]] void stay_for_some_looks() {
  if (leaks_in("ranks") && std::getenv("UCXBENCH_INTERNAL_RANK") != nullptr) usleep(300'000);
}

}  // namespace

extern "C" {

int socketpair(int domain, int type, int protocol, int ends[2]) noexcept {
  static const auto real =
      reinterpret_cast<int (*)(int, int, int, int*)>(dlsym(RTLD_NEXT, "socketpair"));
  static const bool here = leaks_in("program") && std::getenv("UCXBENCH_INTERNAL_RANK") == nullptr;
  if (here) leak(std::size_t{1} << 20U, true);
  return real(domain, type, protocol, ends);
}

ucs_status_ptr_t ucp_tag_send_nbx(ucp_ep_h endpoint, const void* buffer, size_t count,
                                  ucp_tag_t tag, const ucp_request_param_t* parameters) {
  static const auto real =
      reinterpret_cast<decltype(&ucp_tag_send_nbx)>(dlsym(RTLD_NEXT, "ucp_tag_send_nbx"));
  static const bool here = leaks_in("ranks");
  static int sent = 0;
  if (here) leak(std::size_t{96} << 10U, ++sent % 5 == 0 && sent < 10'000);
  return real(endpoint, buffer, count, tag, parameters);
}

}  // extern "C"
