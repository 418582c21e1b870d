// Preloaded into ucx_perftest: writes each buffer that it lets UCX allocate, once, right after.
// Version 1.13.1 of it never writes its send buffer, so its pages stay the kernel's one shared page
// of zeros, which the processor has in its cache whatever the message size, and which no user's
// data are.

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
