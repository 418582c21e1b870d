#include "harness/comm/registration.hpp"

#include "harness/transports/ucx_error.hpp"

namespace ucxbench {

Registration::Registration(const UcxWorker& worker, std::span<std::byte> memory)
    : context_(worker.context()) {
  ucp_mem_map_params_t params{};
  params.field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS | UCP_MEM_MAP_PARAM_FIELD_LENGTH;
  params.address = memory.data();
  params.length = memory.size();
  check(ucp_mem_map(context_, &params, &handle_), "ucp_mem_map");
}

Registration::~Registration() { ucp_mem_unmap(context_, handle_); }

}  // namespace ucxbench
