// Preloaded into ucx_perftest, where its measurement is not what a user of UCX has.
//
// It writes each buffer that ucx_perftest lets UCX allocate, once, right after. Version 1.13.1
// never writes its send buffer, so its pages stay the kernel's one shared page of zeros, which the
// processor has in its cache whatever the message size, and which no user's data are. A word stays
// as it is: ucp_cswap waits forever for one that was not 0.
//
// It shortens the waits of its barrier (sock_io in src/tools/perf/perftest.c), where the target
// makes progress once in a poll of 1 ms. Operations in software need the target's progress, and it
// comes to the barrier too early: of ucp_get it makes progress just as often as there are gets
// (until 1.22), and of ucp_put_bw puts that are under way take over the byte that marks the last
// one (send_last_iter in src/tools/perf/lib/ucp_tests.cc, as late as 1.22). Over posix,cma puts of
// 8 MiB then had a fortieth of their bandwidth.

#include <dlfcn.h>
#include <poll.h>
#include <ucp/api/ucp.h>

#include <cstdint>
#include <cstring>

extern "C" ucs_status_t ucp_mem_map(ucp_context_h context, const ucp_mem_map_params_t* params,
                                    ucp_mem_h* memory) {
  static const auto next =
      reinterpret_cast<decltype(&ucp_mem_map)>(dlsym(RTLD_NEXT, "ucp_mem_map"));
  const auto status = next(context, params, memory);
  const bool allocates = (params->field_mask & UCP_MEM_MAP_PARAM_FIELD_FLAGS) != 0 &&
                         (params->flags & UCP_MEM_MAP_ALLOCATE) != 0;
  if (status != UCS_OK || !allocates || params->length <= sizeof(std::uint64_t)) return status;
  ucp_mem_attr_t attributes{};
  attributes.field_mask = UCP_MEM_ATTR_FIELD_ADDRESS | UCP_MEM_ATTR_FIELD_LENGTH;
  if (ucp_mem_query(*memory, &attributes) == UCS_OK) {
    std::memset(attributes.address, 0x5a, attributes.length);
  }
  return status;
}

// Most calls do not even ask: a system call for each progress would make small messages slower.
extern "C" int poll(pollfd* descriptors, nfds_t count, int timeout_ms) {
  static const auto next = reinterpret_cast<decltype(&poll)>(dlsym(RTLD_NEXT, "poll"));
  static unsigned calls = 0;
  const bool in_barrier = count == 1 && timeout_ms == 1;
  if (!in_barrier) return next(descriptors, count, timeout_ms);
  return ++calls % 256 == 0 ? next(descriptors, count, 0) : 0;
}
