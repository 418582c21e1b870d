#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "harness/comm/choices.hpp"
#include "harness/comm/link.hpp"

namespace ucxbench::pingpong {

/// Which side of the pair this process is. `alone` sends to itself.
enum class Role { lead, follow, alone };

/// Who has the payload of a stream one way in the end: of get, who asked for it.
constexpr bool receives_one_way(Role role, Api api) {
  return role == Role::alone || (api == Api::get) == (role == Role::lead);
}

/// From one reading of a clock to a later one.
struct Interval {
  std::uint64_t begin = 0, end = 0;
  std::uint64_t length() const { return end - begin; }
};

/// What put, get and atomic operations need beyond the loops.
class OneSided {
 public:
  virtual ~OneSided() = default;

  /// Memory that the peer may act on, until withdraw(), which comes before the memory goes; not
  /// again what is there already. Both sides call both.
  virtual void expose(std::span<std::byte> memory) = 0;
  virtual void withdraw() = 0;

  /// Puts or gets, from this side: they are done, flush included, when it returns. The peer makes
  /// progress, and is not told.
  virtual void carry_out(std::uint64_t count) = 0;

  /// Several atomic operations from lead to follower whose results are known, other ones in each
  /// `round`. They are over on both sides when it returns.
  virtual void exchange_words(std::uint64_t round) = 0;

  /// What is wrong with values that atomic operations have found, or left in this side's memory,
  /// since use(); empty: nothing.
  virtual std::string wrong_value() const = 0;

  /// `count` times on the lead: one operation and a flush, which proves that it is done at the
  /// target too. `stamps` as in round_trips; null: none.
  virtual void completions(std::uint64_t count, std::uint64_t* stamps) = 0;

  /// The lead's share of that, for a target that does something else meanwhile.
  virtual void complete_one() = 0;
};

/// The timed loops of a pair over one connection: one implementation per link, chosen once, so that
/// nothing is virtual inside a loop. Both sides call the same functions with
/// the same counts.
class Loops {
 public:
  virtual ~Loops() = default;

  virtual void use(const LinkBuffers& buffers) = 0;

  /// `count` round trips (one-way messages when alone). With `stamps` (count + 1 places) the lead
  /// stores one time stamp per iteration and one before the first; without, none. Of get and atomic
  /// operations, which have no way back, an iteration is one of the lead's. Returns when
  /// all began and ended, in ticks.
  virtual Interval round_trips(std::uint64_t count, std::uint64_t* stamps) = 0;

  /// `count` messages from lead to follower through the window. Returns, in nanoseconds of
  /// CLOCK_MONOTONIC, on the lead when it posted the first and when its flush had ended; on the
  /// follower when it began to look, by which much may have come, and when the last had come. The
  /// target of one-sided operations does not see them: the origin's end is theirs. Nothing travels
  /// back: a TCP receiver that ever answers acknowledges half as often from then on. So the caller
  /// sees to it that the follower is ready, and has received everything.
  virtual Interval one_way(std::uint64_t count) = 0;

  /// `count` messages each way at once, after the two have met. Returns, likewise, when this side
  /// began and when it had received all of its own.
  virtual Interval both_ways(std::uint64_t count) = 0;

  /// One message from lead to follower; on the lead, in the device's words how it went.
  virtual std::string described() = 0;

  /// What this side has sent is with the peer.
  virtual void flush() = 0;

  /// Both sides have arrived: a signal each way.
  virtual void meet() = 0;

  /// One step of progress, for code that waits for something else.
  virtual void turn() = 0;

  /// Null where messages are sent and received.
  virtual OneSided* one_sided() { return nullptr; }
};

}  // namespace ucxbench::pingpong
