#include "harness/comm/flows.hpp"

namespace ucxbench {

Flows::Flows(Communicator& comm, const Clock& clock, const std::vector<FlowTo>& to,
             const std::vector<FlowFrom>& from, int window, std::uint64_t label)
    : comm_(comm),
      clock_(clock),
      window_(static_cast<std::size_t>(window)),
      label_(label),
      open_(to.size() + from.size()) {
  // Batches stay where they are from the first post on.
  for (const auto& flow : to) to_.push_back({.flow = flow});
  for (const auto& flow : from) from_.push_back({.flow = flow});
}

template <typename Flow, typename Post>
void Flows::step(Running<Flow>& running, Post post) {
  if (running.ended != 0) return;
  // Small messages may be over at once: without a bound other flows would wait for this one.
  for (std::size_t i = 0;
       i < window_ && running.posted < running.flow.messages && running.batch.in_flight < window_;
       ++i) {
    post(label_ + running.posted++ % (flow_labels - label_));
  }
  if (running.posted < running.flow.messages || !running.batch.done()) return;
  running.ended = clock_.ticks();
  --open_;
}

void Flows::step() {
  for (auto& running : from_) {
    step(running, [&](std::uint64_t label) {
      comm_.receive(running.flow.rank, label, running.flow.place, running.batch);
    });
  }
  for (auto& running : to_) {
    step(running, [&](std::uint64_t label) {
      comm_.send(running.flow.rank, label, running.flow.message, running.batch);
    });
  }
}

std::uint64_t Flows::came() const {
  std::uint64_t all = 0;
  for (const auto& running : from_) all += running.posted - running.batch.in_flight;
  return all;
}

}  // namespace ucxbench
