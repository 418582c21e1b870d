#include "bench/loggp/steps.hpp"

#include <array>

namespace ucxbench::loggp {
namespace {

constexpr std::uint64_t back = most_train;
constexpr std::uint64_t asking = back + 1;

bool times(const End& end) { return end.comm.rank() == 0; }
int other(const End& end) { return 1 - end.comm.rank(); }

void be_busy(const Clock& clock, std::uint64_t ticks) {
  const auto began = clock.ticks();
  while (clock.ticks() - began < ticks) {
  }
}

std::uint64_t time_train(const End& end, int messages) {
  Batch sent, answered;
  end.comm.receive(other(end), back, end.receives, answered);
  const auto began = end.clock.ticks();
  for (int at = 0; at < messages; ++at) {
    end.comm.send(other(end), static_cast<std::uint64_t>(at), end.sends, sent);
  }
  end.comm.wait(answered);
  const auto took = end.clock.ticks() - began;
  end.comm.wait(sent);
  return took;
}

void answer_trains(const End& end, int messages, int count) {
  Batch came, sent;
  const auto receive = [&] {
    for (int at = 0; at < messages; ++at) {
      end.comm.receive(other(end), static_cast<std::uint64_t>(at), end.receives, came);
    }
  };
  receive();
  end.comm.barrier();
  for (int train = 1; train <= count; ++train) {
    end.comm.wait(came);
    if (train < count) receive();
    end.comm.send(other(end), back, end.sends, sent);
    end.comm.wait(sent);
  }
}

// Each has a label of its own among those that may be on their way.
std::uint64_t time_send(const End& end, std::uint64_t delay, int at) {
  Batch sent;
  const auto began = end.clock.ticks();
  end.comm.send(other(end), static_cast<std::uint64_t>(at) % most_train, end.sends, sent);
  const auto begun = end.clock.ticks() - began;
  be_busy(end.clock, delay);
  const auto goes_on = end.clock.ticks();
  end.comm.wait(sent);
  return begun + end.clock.ticks() - goes_on;
}

void answer_send(const End& end, int at) {
  Batch came;
  end.comm.receive(other(end), static_cast<std::uint64_t>(at) % most_train, end.receives, came);
  end.comm.wait(came);
}

std::uint64_t time_receive(const End& end, std::uint64_t delay) {
  Batch came, asked;
  std::array<std::byte, 1> question{};
  const auto began = end.clock.ticks();
  end.comm.receive(other(end), back, end.receives, came);
  const auto begun = end.clock.ticks() - began;
  end.comm.send(other(end), asking, question, asked);
  end.comm.wait(asked);
  be_busy(end.clock, delay);
  const auto goes_on = end.clock.ticks();
  end.comm.wait(came);
  return begun + end.clock.ticks() - goes_on;
}

void answer_receive(const End& end) {
  Batch asked, sent;
  std::array<std::byte, 1> question{};
  end.comm.receive(other(end), asking, question, asked);
  end.comm.wait(asked);
  end.comm.send(other(end), back, end.sends, sent);
  end.comm.wait(sent);
}

}  // namespace

std::vector<std::uint64_t> time_trains(const End& end, int messages, int count) {
  std::vector<std::uint64_t> ticks;
  if (times(end)) {
    end.comm.barrier();
    for (int train = 0; train < count; ++train) ticks.push_back(time_train(end, messages));
  } else {
    answer_trains(end, messages, count);
  }
  end.comm.barrier();
  return ticks;
}

std::vector<std::uint64_t> time_sends(const End& end, std::uint64_t delay, int count) {
  std::vector<std::uint64_t> ticks;
  for (int at = 0; at < count; ++at) {
    if (times(end)) {
      ticks.push_back(time_send(end, delay, at));
    } else {
      answer_send(end, at);
    }
  }
  end.comm.barrier();
  return ticks;
}

std::vector<std::uint64_t> time_receives(const End& end, std::uint64_t delay, int count) {
  std::vector<std::uint64_t> ticks;
  for (int at = 0; at < count; ++at) {
    if (times(end)) {
      ticks.push_back(time_receive(end, delay));
    } else {
      answer_receive(end);
    }
  }
  end.comm.barrier();
  return ticks;
}

}  // namespace ucxbench::loggp
