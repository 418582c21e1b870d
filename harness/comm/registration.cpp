#include "harness/comm/registration.hpp"

#include <cstring>

#include "harness/core/announced.hpp"
#include "harness/transports/ucx_error.hpp"

namespace ucxbench {

Registration::Registration(const UcxWorker& worker, std::span<std::byte> memory)
    : context_(worker.context()), memory_(memory) {
  ucp_mem_map_params_t params{};
  params.field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS | UCP_MEM_MAP_PARAM_FIELD_LENGTH;
  params.address = memory.data();
  params.length = memory.size();
  check(ucp_mem_map(context_, &params, &handle_), "ucp_mem_map");
}

Registration::~Registration() { ucp_mem_unmap(context_, handle_); }

std::vector<std::uint8_t> Registration::key() const {
  void* packed = nullptr;
  std::size_t bytes = 0;
  check(ucp_rkey_pack(context_, handle_, &packed, &bytes), "ucp_rkey_pack");
  const auto address = reinterpret_cast<std::uint64_t>(memory_.data());
  std::vector<std::uint8_t> key(sizeof address + bytes);
  std::memcpy(key.data(), &address, sizeof address);
  std::memcpy(key.data() + sizeof address, packed, bytes);
  ucp_rkey_buffer_release(packed);
  return key;
}

RemoteMemory::RemoteMemory(ucp_ep_h endpoint, const std::vector<std::uint8_t>& key) {
  if (key.size() <= sizeof address_) refuse_announcement(-1);
  std::memcpy(&address_, key.data(), sizeof address_);
  check(ucp_ep_rkey_unpack(endpoint, key.data() + sizeof address_, &key_), "ucp_ep_rkey_unpack");
}

RemoteMemory::~RemoteMemory() { ucp_rkey_destroy(key_); }

}  // namespace ucxbench
