#include "bench/p2p/streams.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>
#include <list>
#include <span>

namespace ucxbench::p2p {
namespace {

// Beside the messages' own numbers: the receiver is ready; it has enough, and has posted receives
// for so many, which the sender has to send; the sender has sent so many, which the receiver has to
// take. What both know is not said where the number of messages is fixed: among hundreds of ranks
// on a few CPUs each signal wakes one.
enum Signal : std::uint64_t { ready = 0, enough = 1, sent = 2 };
constexpr std::uint64_t numbers = label_count / 4;  // far more than a window; then again from 0
constexpr std::uint64_t label_of(Signal signal) { return numbers + signal; }

/// One end of a stream. Its signals' bytes stay where they are until they have been sent.
class Flow {
 public:
  Flow(Communicator& comm, const Load& load, int peer) : comm_(comm), load_(load), peer_(peer) {}
  Flow(const Flow&) = delete;
  Flow& operator=(const Flow&) = delete;

 protected:
  void say(Signal signal, std::uint64_t value = 0) {
    said_.at(signal) = value;
    comm_.send(peer_, label_of(signal), std::as_bytes(std::span(&said_.at(signal), 1)), saying_);
  }
  void listen(Signal signal, Batch& heard) {
    comm_.receive(peer_, label_of(signal), std::as_writable_bytes(std::span(&heard_.at(signal), 1)),
                  heard);
  }
  /// The number of messages is: both know it.
  bool fixed() const { return load_.messages.has_value(); }
  /// The receiver says that it has enough.
  bool confirmed() const { return load_.confirmed || !fixed(); }
  bool may_post() const {
    return posted_ < limit_ && batch_.in_flight < static_cast<std::size_t>(load_.window);
  }

  Communicator& comm_;
  const Load& load_;
  int peer_;
  std::uint64_t posted_ = 0;
  std::uint64_t limit_ = load_.messages.value_or(std::numeric_limits<std::uint32_t>::max());
  Batch batch_, saying_;
  std::array<std::uint64_t, 3> heard_{};

 private:
  std::array<std::uint64_t, 3> said_{};
};

class Outflow : Flow {
 public:
  Outflow(Communicator& comm, const Load& load, int peer) : Flow(comm, load, peer) {
    if (load.announced) listen(ready, receiver_ready_);
    if (confirmed()) listen(enough, receiver_has_enough_);
  }

  void step() {
    if (!receiver_ready_.done() || stopped_) return;
    if (confirmed() && receiver_has_enough_.done()) {
      limit_ = std::max(posted_, heard_.at(enough));
    }
    // Small messages are sent at once: without a bound this would never end.
    for (int i = 0; i < load_.window && may_post(); ++i) {
      comm_.send(peer_, posted_++ % numbers, load_.send, batch_);
    }
    if (!receiver_has_enough_.done() || posted_ < limit_) return;
    stopped_ = true;
    if (!fixed()) say(sent, posted_);
  }
  bool over() const { return stopped_ && batch_.done() && saying_.done(); }

 private:
  Batch receiver_ready_, receiver_has_enough_;
  bool stopped_ = false;
};

class Inflow : Flow {
 public:
  Inflow(Communicator& comm, const Clock& clock, const Load& load, int peer,
         std::span<std::byte> place)
      : Flow(comm, load, peer), clock_(clock), place_(place), stream_{.src = peer} {
    if (!fixed()) listen(sent, sender_stopped_);
    post();
    stream_.begin_ns = monotonic_ns();
    began_ = clock_.ticks();
    if (load.announced) say(ready);
  }

  void step() {
    if (!ended_) end_if_enough();
    if (!fixed() && ended_ && sender_stopped_.done()) limit_ = heard_.at(sent);
    post();
  }
  bool over() const {
    return ended_ && sender_stopped_.done() && posted_ == limit_ && batch_.done() && saying_.done();
  }
  const Stream& result() const { return stream_; }

 private:
  void end_if_enough() {
    const auto came = posted_ - batch_.in_flight;
    const auto ticks = clock_.ticks() - began_;
    ended_ = load_.messages
                 ? came == *load_.messages
                 : came >= load_.least_messages && ticks >= clock_.ticks_in(load_.least_s);
    if (!ended_) return;
    stream_.end_ns = monotonic_ns();
    stream_.ticks = ticks;
    stream_.messages = came;
    limit_ = posted_;
    if (confirmed()) say(enough, posted_);
  }
  void post() {
    while (may_post()) {
      comm_.receive(peer_, posted_++ % numbers, place_, batch_);
    }
  }

  const Clock& clock_;
  std::span<std::byte> place_;
  Batch sender_stopped_;
  Stream stream_;
  std::uint64_t began_ = 0;
  bool ended_ = false;
};

}  // namespace

std::vector<Stream> stream(Communicator& comm, const Clock& clock, const Load& load,
                           const std::vector<int>& to, const std::vector<int>& from) {
  std::list<Inflow> inflows;  // which, unlike a deque, allocates nothing where there is none
  for (std::size_t at = 0; at < from.size(); ++at) {
    inflows.emplace_back(comm, clock, load, from[at], load.receive[at]);
  }
  std::list<Outflow> outflows;
  for (const auto peer : to) outflows.emplace_back(comm, load, peer);
  const auto over = [](const auto& flow) { return flow.over(); };
  for (;;) {
    for (auto& flow : inflows) flow.step();
    for (auto& flow : outflows) flow.step();
    if (std::ranges::all_of(inflows, over) && std::ranges::all_of(outflows, over)) break;
    comm.wait_a_step();
  }
  std::vector<Stream> streams;
  for (const auto& flow : inflows) streams.push_back(flow.result());
  return streams;
}

}  // namespace ucxbench::p2p
