#include "bench/p2p/streams.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <deque>

namespace ucxbench::p2p {
namespace {

// Beside the messages' own numbers.
enum Signal : std::uint64_t { ready = 0, now = 1, done = 2 };
constexpr std::uint64_t label_of(Signal signal) { return std::uint64_t{1} << 40U | signal; }

/// One end of a stream. Its signals' bytes stay where they are until they have been sent.
class Flow {
 public:
  Flow(Communicator& comm, const Load& load, int peer) : comm_(comm), load_(load), peer_(peer) {}
  Flow(const Flow&) = delete;
  Flow& operator=(const Flow&) = delete;

 protected:
  void say(Signal signal) { comm_.send(peer_, label_of(signal), {&said_, 1}, saying_); }
  void listen(Signal signal, Batch& heard) {
    comm_.receive(peer_, label_of(signal), {&heard_.at(signal), 1}, heard);
  }
  bool may_post() const {
    return posted_ < load_.messages && batch_.in_flight < static_cast<std::size_t>(load_.window);
  }

  Communicator& comm_;
  const Load& load_;
  int peer_;
  std::uint64_t posted_ = 0;
  Batch batch_, saying_;

 private:
  std::byte said_{};
  std::array<std::byte, 3> heard_{};
};

class Outflow : Flow {
 public:
  Outflow(Communicator& comm, const Load& load, int peer) : Flow(comm, load, peer) {
    listen(ready, receiver_ready_);
    listen(done, receiver_done_);
  }

  void step() {
    if (!receiver_ready_.done()) return;
    if (!begun_) say(now);
    begun_ = true;
    while (may_post()) comm_.send(peer_, posted_++, load_.send, batch_);
  }
  bool over() const { return receiver_done_.done() && batch_.done() && saying_.done(); }

 private:
  Batch receiver_ready_, receiver_done_;
  bool begun_ = false;
};

class Inflow : Flow {
 public:
  Inflow(Communicator& comm, const Load& load, int peer) : Flow(comm, load, peer) {
    listen(now, begun_);
    post();
    say(ready);
  }

  void step(const Clock& clock) {
    if (ended_ != 0) return;
    if (began_ == 0 && begun_.done()) began_ = clock.ticks();
    post();
    if (posted_ < load_.messages || !batch_.done() || began_ == 0) return;
    ended_ = clock.ticks();
    say(done);
  }
  bool over() const { return ended_ != 0 && saying_.done(); }

  Stream result(const Clock& clock) const {
    const auto bytes = load_.messages * load_.receive[static_cast<std::size_t>(peer_)].size();
    return {peer_, static_cast<double>(bytes) / (clock.us(ended_ - began_) * 1e3)};
  }

 private:
  void post() {
    while (may_post()) {
      comm_.receive(peer_, posted_++, load_.receive[static_cast<std::size_t>(peer_)], batch_);
    }
  }

  Batch begun_;
  std::uint64_t began_ = 0, ended_ = 0;
};

}  // namespace

std::vector<Stream> stream(Communicator& comm, const Clock& clock, const Load& load,
                           const std::vector<int>& to, const std::vector<int>& from) {
  std::deque<Inflow> inflows;
  for (const auto peer : from) inflows.emplace_back(comm, load, peer);
  std::deque<Outflow> outflows;
  for (const auto peer : to) outflows.emplace_back(comm, load, peer);
  const auto over = [](const auto& flow) { return flow.over(); };
  while (!std::ranges::all_of(inflows, over) || !std::ranges::all_of(outflows, over)) {
    comm.wait_a_step();
    for (auto& flow : inflows) flow.step(clock);
    for (auto& flow : outflows) flow.step();
  }
  std::vector<Stream> streams;
  for (const auto& flow : inflows) streams.push_back(flow.result(clock));
  return streams;
}

}  // namespace ucxbench::p2p
