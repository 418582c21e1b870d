#include "bench/incast/round_trips.hpp"

#include <functional>
#include <span>

#include "bench/incast/parameters.hpp"
#include "harness/comm/flows.hpp"

namespace ucxbench::incast {
namespace {

enum Answer : std::uint64_t { not_yet, counts, no_more };

// Above those of any load.
constexpr std::uint64_t asking = flow_labels;
constexpr std::uint64_t answering = asking + 1;

/// `next` is asked for an answer each time that one is due, and `meanwhile` takes a step of the
/// load.
void answer_all(Communicator& comm, const std::function<Answer()>& next,
                const std::function<void()>& meanwhile) {
  std::uint64_t question = 0;
  std::uint64_t answer = not_yet;
  Batch asked, answered;
  const auto listen = [&] {
    comm.receive(probe_rank, asking, std::as_writable_bytes(std::span(&question, 1)), asked);
  };
  listen();
  for (meanwhile(); answer != no_more; meanwhile()) {
    if (asked.done() && answered.done()) {
      answer = next();
      comm.send(probe_rank, answering, std::as_bytes(std::span(&answer, 1)), answered);
      if (answer != no_more) listen();
    } else {
      comm.wait_a_step();
    }
  }
  comm.wait(answered);
}

}  // namespace

std::vector<std::uint64_t> ask(Communicator& comm, const Clock& clock) {
  std::vector<std::uint64_t> ticks;
  for (std::uint64_t question = 0;; ++question) {
    std::uint64_t answer = not_yet;
    Batch asked, answered;
    comm.receive(hot_rank, answering, std::as_writable_bytes(std::span(&answer, 1)), answered);
    const auto began = clock.ticks();
    comm.send(hot_rank, asking, std::as_bytes(std::span(&question, 1)), asked);
    comm.wait(answered);
    const auto took = clock.ticks() - began;
    comm.wait(asked);
    if (answer == no_more) return ticks;
    if (answer == counts) ticks.push_back(took);
  }
}

void answer(Communicator& comm, std::uint64_t round_trips) {
  std::uint64_t done = 0;
  answer_all(comm, [&] { return done++ < round_trips ? counts : no_more; }, [] {});
}

void answer_beside(Communicator& comm, Flows& load) {
  const auto next = [&] {
    if (load.over()) return no_more;
    return load.came() > 0 ? counts : not_yet;
  };
  answer_all(comm, next, [&] { load.step(); });
  load.finish();
}

}  // namespace ucxbench::incast
