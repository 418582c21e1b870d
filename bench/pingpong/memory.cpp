#include "bench/pingpong/memory.hpp"

#include <algorithm>

namespace ucxbench::pingpong {

PairMemory::PairMemory(const Parameters& p, int rank_on_machine, std::uint64_t largest)
    : pooled_(p.pool()), send_kind_(p.sent_from()), receive_kind_(p.received_into()) {
  if (needs_cuda(send_kind_) || needs_cuda(receive_kind_)) {
    context_.emplace(gpu_of_rank(p.devices, rank_on_machine));
  }
  if (!pooled_) return;
  const auto bytes = std::max<std::uint64_t>(largest, 1);
  for (const auto kind : {send_kind_, receive_kind_}) {
    if (pools_.contains(kind)) continue;
    const bool both = send_kind_ == receive_kind_;
    auto room = MemoryPool::room_for(std::vector<std::size_t>(both ? 2 : 1, bytes));
    if (needs_cuda(kind) && p.pool_bytes != 0) room = p.pool_bytes;
    pools_.emplace(kind, MemoryPool(kind, room));
  }
  send_ = pools_.at(send_kind_).take(bytes);
  receive_ = pools_.at(receive_kind_).take(bytes);
}

std::pair<Buffer&, Buffer&> PairMemory::buffers(std::uint64_t bytes) {
  if (!pooled_) {
    // The old ones go first: two of the largest may be all that fits.
    send_.reset();
    receive_.reset();
    const auto size = std::max<std::uint64_t>(bytes, 1);
    send_.emplace(send_kind_, size);
    receive_.emplace(receive_kind_, size);
  }
  return {*send_, *receive_};
}

MessageForm PairMemory::form_of(const Parameters& p) {
  MessageForm form{.entries = p.layout.entries,
                   .unexpected = p.receives == Receives::unexpected,
                   .registered = p.register_by == RegisterBy::user,
                   .header_bytes = static_cast<std::size_t>(p.header_bytes)};
  if (form.header_bytes == 0) return form;
  for (auto* header : {&header_, &received_header_}) {
    if (*header && (*header)->size() >= form.header_bytes) continue;
    header->reset();
    header->emplace(MemoryKind::host, form.header_bytes);
  }
  form.header = header_->data();
  form.received_header = received_header_->data();
  return form;
}

}  // namespace ucxbench::pingpong
