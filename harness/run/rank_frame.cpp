#include "harness/run/rank_frame.hpp"

#include <utility>

namespace ucxbench {

RankFrame::RankFrame(RankContext& context, const Place& place) : context_(context), place_(place) {
  context.rendezvous().phase("allocating buffers");
  if (needs_cuda(place.sent_from()) || needs_cuda(place.received_into())) {
    gpu_.emplace(gpu_of_rank(place.devices, context.rendezvous().rank_on_machine()));
  }
}

CommSetup RankFrame::setup() const {
  return {.kind = place_.comm,
          .transports = place_.transports,
          .connect_by = place_.connect_by,
          .net_devices = place_.net_devices,
          .progress = place_.progress,
          .crowded = context_.crowded(),
          .takes_turns = true};
}

void RankFrame::connect() {
  auto& rendezvous = context_.rendezvous();
  rendezvous.phase("connecting");
  connect(make_device(rendezvous.rank(), rendezvous.size(), setup()));
}

void RankFrame::connect(std::unique_ptr<CommDevice> device) {
  comm_.emplace(context_.rendezvous(), setup(), std::move(device));
}

void RankFrame::report_rank() {
  context_.report_rank(device_of(gpu_),
                       {{"net_devices", place_.net_devices}, {"ucx_effective", comm_->effective()}},
                       waiting_);
}

MessageBuffers::MessageBuffers(const Place& place, std::uint64_t bytes, std::size_t places)
    : send(MemoryPool(place.sent_from(), MemoryPool::room_for({bytes})).take(bytes)) {
  const std::vector<std::size_t> sizes(places, bytes);
  MemoryPool pool(place.received_into(), MemoryPool::room_for(sizes));
  for (const auto size : sizes) receive.push_back(pool.take(size));
}

}  // namespace ucxbench
