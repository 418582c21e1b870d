#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bench/pingpong/measure.hpp"

namespace ucxbench::pingpong {

/// Compares payloads byte by byte, outside the clock: what the receive buffer holds after each
/// timed loop, and messages of their own, each with another content.
class Verifier {
 public:
  Verifier(const Bench& bench, const Parameters& parameters, const Rendezvous::Progress& progress);

  /// Puts this rank's payload into the send buffer and something else into the receive buffer.
  void fill();

  /// Compares the last message that came by `loops`, or the value that atomic operations left, then
  /// makes the receive buffer wrong again.
  void compare(Loops& loops, std::string_view when);

  /// Before a timed loop: whatever came until now is gone from where its messages will be, on both
  /// ranks, so that compare() finds none that a warm-up left. `again` gives the loops their buffers
  /// anew: a put's number and an atomic operation's word have their first values. Nothing is under
  /// way.
  void forget(const std::function<void()>& again);

  /// One more window of a stream by `loops`, as those that were timed but with a place and a
  /// content of its own for each message: one of them cannot be taken for another, or for what was
  /// there before.
  void check_window(Loops& loops, bool both_ways, std::string_view when);

  /// Round trips of which every message is new and is compared, or operations on new values.
  void exchange_checked_messages();

  /// Of both ranks, on the lead.
  Checks outcome();

 private:
  void fill_all(std::uint64_t round);
  void carry_out(OneSided& operations, std::uint64_t count, bool both_ways,
                 const std::function<void()>& check);
  void zero_all();
  void await_both();
  void check_all(std::uint64_t round, std::uint64_t bytes, std::string_view when);
  std::string wrong_payload(std::size_t thread, std::optional<std::size_t> at) const;
  std::string wrong_header(std::uint64_t round) const;
  void note(const std::string& wrong, std::string_view when);
  void check_places(const LinkBuffers& buffers, std::uint64_t round, std::string_view when);
  void check_value(Loops& loops, std::string_view when);
  void fill_header(std::uint64_t round);
  std::uint64_t header_seed(int rank, std::uint64_t round) const;

  const Bench& bench_;
  const Parameters& p_;
  const Rendezvous::Progress& progress_;
  std::vector<Buffer> send_, receive_;  ///< of each thread
  Checks checks_;
  std::uint64_t windows_ = 0;  ///< that were checked
};

}  // namespace ucxbench::pingpong
