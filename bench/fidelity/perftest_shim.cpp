// Preloaded into ucx_perftest, where its measurement is not what a user of UCX has.
//
// It writes each buffer that ucx_perftest lets UCX allocate, once, right after. Version 1.13.1
// never writes its send buffer, so its pages stay the kernel's one shared page of zeros, which the
// processor has in its cache whatever the message size, and which no user's data are.
//
// It makes the fence before the last put, or atomic operation, a flush. ucp_put_bw marks its last
// put by a byte that it writes into the send buffer (send_last_iter in src/tools/perf/lib/
// ucp_tests.cc, as late as 1.22). Puts in software that are still under way carry that byte, too,
// so the target believes that all have arrived and goes to the barrier, where it makes progress
// once a millisecond. Over posix,cma 8 MiB then have a fortieth of their bandwidth.

#include <dlfcn.h>
#include <ucp/api/ucp.h>

#include <cstring>

extern "C" ucs_status_t ucp_mem_map(ucp_context_h context, const ucp_mem_map_params_t* params,
                                    ucp_mem_h* memory) {
  static const auto next =
      reinterpret_cast<decltype(&ucp_mem_map)>(dlsym(RTLD_NEXT, "ucp_mem_map"));
  const auto status = next(context, params, memory);
  const bool allocates = (params->field_mask & UCP_MEM_MAP_PARAM_FIELD_FLAGS) != 0 &&
                         (params->flags & UCP_MEM_MAP_ALLOCATE) != 0;
  if (status != UCS_OK || !allocates) return status;
  ucp_mem_attr_t attributes{};
  attributes.field_mask = UCP_MEM_ATTR_FIELD_ADDRESS | UCP_MEM_ATTR_FIELD_LENGTH;
  if (ucp_mem_query(*memory, &attributes) == UCS_OK) {
    std::memset(attributes.address, 0x5a, attributes.length);
  }
  return status;
}

extern "C" ucs_status_t ucp_worker_fence(ucp_worker_h worker) {
  const ucp_request_param_t parameters{};
  void* request = ucp_worker_flush_nbx(worker, &parameters);
  if (!UCS_PTR_IS_PTR(request)) return UCS_PTR_STATUS(request);
  auto status = UCS_INPROGRESS;
  while ((status = ucp_request_check_status(request)) == UCS_INPROGRESS) {
    ucp_worker_progress(worker);
  }
  ucp_request_free(request);
  return status;
}
