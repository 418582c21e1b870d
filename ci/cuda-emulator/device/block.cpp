#include "ci/cuda-emulator/device/block.hpp"

#include <algorithm>
#include <cstring>

namespace emulator {
namespace {

// How often a thread that comes to an atomic lets others go first: once in so many.
constexpr unsigned PAUSE_EVERY = 8;

std::string number(const char* name, std::uint64_t value) {
  return std::string(name) + " " + std::to_string(value);
}

std::string described(const Meeting& meeting) {
  auto text = std::string(meeting.name);
  if (meeting.line != 0) text += " of line " + std::to_string(meeting.line);
  return text;
}

// A warp's threads may come to one shuffle from different lines, a block's not to one barrier.
bool same(const Meeting& a, const Meeting& b) {
  return std::strcmp(a.name, b.name) == 0 && a.mask == b.mask && (a.mask != 0 || a.line == b.line);
}

}  // namespace

Block& block() {
  static auto& instance = *new Block;
  return instance;
}

Block::Block() : stacks_(MOST_BLOCK_THREADS) {
  for (unsigned thread = 0; thread < MOST_BLOCK_THREADS; ++thread) {
    fibers_.emplace_back(stacks_.begin + thread * Fiber::STACK_BYTES);
  }
  lanes_.resize(MOST_BLOCK_THREADS);
}

void Block::begin_launch() { now_.launch_begin = now_.interval + 1; }

void Block::run_thread() {
  auto& block = emulator::block();
  block.body_();
  block.all_[block.current_].state = State::ENDED;
  block.fibers_[block.current_].leave();
}

bool Block::run(unsigned threads, void (*body)(), Random& random) {
  threads_ = threads;
  body_ = body;
  random_ = &random;
  mistake_.clear();
  waiting_for_all_ = 0;
  lanes_met_ = true;
  next_interval();
  now_.block_begin = now_.interval;
  all_.assign(threads, {});
  ready_.clear();
  for (unsigned thread = 0; thread < threads; ++thread) {
    fibers_[thread].start(run_thread);
    ready_.push_back(thread);
  }
  while (!ready_.empty() && mistake_.empty()) {
    std::swap(ready_[random.below(ready_.size())], ready_.back());
    current_ = ready_.back();
    ready_.pop_back();
    now_.thread = current_;
    now_.lanes = lanes_[current_].data();
    fibers_[current_].resume();
  }
  current_ = MOST_BLOCK_THREADS;
  const auto all_ended = [](const Thread& thread) { return thread.state == State::ENDED; };
  if (mistake_.empty() && !std::all_of(all_.begin(), all_.end(), all_ended)) {
    mistake_ = why_none_is_ready();
  }
  return mistake_.empty();
}

void Block::next_interval() {
  ++now_.interval;
  if (!lanes_met_) return;
  lanes_met_ = false;
  for (unsigned thread = 0; thread < threads_; ++thread) {
    lanes_[thread].fill(0);
    lanes_[thread][thread % WARP_THREADS] = 1;
  }
}

void Block::pause() { fibers_[current_].pause(); }

void Block::maybe_pause() {
  if (random_->below(PAUSE_EVERY) != 0) return;
  ready_.push_back(current_);
  pause();
}

void Block::fail(const std::string& what) {
  mistake_ = number("thread", current_) + " " + what;
  fibers_[current_].leave();
}

void Block::meet(const Meeting& meeting, bool is_barrier) {
  all_[current_] = {.state = State::WAITING, .meeting = meeting};
  if (++waiting_for_all_ == threads_) {
    for (unsigned thread = 0; thread < threads_; ++thread) {
      auto& other = all_[thread];
      if (same(other.meeting, meeting)) continue;
      fail("waits at " + described(meeting) + ", but " + number("thread", thread) + " at " +
           described(other.meeting));
    }
    waiting_for_all_ = 0;
    if (is_barrier) next_interval();
    for (unsigned thread = 0; thread < threads_; ++thread) {
      all_[thread].state = State::READY;
      ready_.push_back(thread);
    }
  }
  pause();
}

bool Block::lanes_are_there(unsigned first, const Meeting& meeting) {
  for (unsigned lane = 0; lane < WARP_THREADS; ++lane) {
    if ((meeting.mask >> lane & 1U) == 0) continue;
    const auto& thread = all_[first + lane];
    if (thread.state != State::WAITING || !same(thread.meeting, meeting)) return false;
  }
  return true;
}

LaneValues Block::meet_lanes(const Meeting& meeting, std::uint64_t value, bool is_barrier) {
  const auto lane = current_ % WARP_THREADS;
  const auto first = current_ - lane;
  const auto lanes = std::min(threads_ - first, WARP_THREADS);
  if ((meeting.mask >> lane & 1U) == 0) {
    fail("calls " + described(meeting) + " with a mask that leaves out its own lane");
  }
  if (lanes < WARP_THREADS && meeting.mask >> lanes != 0) {
    fail("calls " + described(meeting) + " with a mask of lanes that do not exist");
  }
  LaneValues values;
  all_[current_] = {.state = State::WAITING, .meeting = meeting, .value = value, .values = &values};
  if (lanes_are_there(first, meeting)) {
    if (is_barrier) join_lanes(first, meeting.mask);
    LaneValues brought{};
    for (unsigned other = 0; other < lanes; ++other) {
      if ((meeting.mask >> other & 1U) != 0) brought.of[other] = all_[first + other].value;
    }
    for (unsigned other = 0; other < lanes; ++other) {
      if ((meeting.mask >> other & 1U) == 0) continue;
      auto& thread = all_[first + other];
      *thread.values = brought;
      thread.state = State::READY;
      ready_.push_back(first + other);
    }
  }
  pause();
  return values;
}

void Block::join_lanes(unsigned first, unsigned mask) {
  lanes_met_ = true;
  std::array<std::uint16_t, WARP_THREADS> joined{};
  const auto for_lanes = [&](auto work) {
    for (unsigned lane = 0; lane < WARP_THREADS; ++lane) {
      if ((mask >> lane & 1U) != 0) work(lane, lanes_[first + lane]);
    }
  };
  for_lanes([&](unsigned, const auto& known) {
    for (unsigned lane = 0; lane < WARP_THREADS; ++lane) {
      joined[lane] = std::max(joined[lane], known[lane]);
    }
  });
  for_lanes([&](unsigned lane, auto& known) {
    known = joined;
    ++known[lane];
  });
}

std::string Block::why_none_is_ready() const {
  const auto waits = [](const Thread& thread) { return thread.state == State::WAITING; };
  const auto waiting = std::find_if(all_.begin(), all_.end(), waits);
  const auto first = static_cast<unsigned>(waiting - all_.begin());
  const auto is_called = [&](unsigned thread) {
    if (waiting->meeting.mask == 0) return true;
    return first / WARP_THREADS == thread / WARP_THREADS &&
           (waiting->meeting.mask >> thread % WARP_THREADS & 1U) != 0;
  };
  auto text = number("thread", first) + " waits at " + described(waiting->meeting);
  for (unsigned thread = 0; thread < threads_; ++thread) {
    const auto& other = all_[thread];
    if (!is_called(thread)) continue;
    if (other.state == State::WAITING && same(other.meeting, waiting->meeting)) continue;
    return text + ", but " + number("thread", thread) +
           (other.state == State::ENDED ? " has ended" : " waits at " + described(other.meeting));
  }
  return text + ", where the others never come";
}

}  // namespace emulator
