#pragma once

#include <cstdint>
#include <optional>

#include "bench/pingpong/loops.hpp"
#include "harness/core/json.hpp"
#include "harness/launch/rendezvous.hpp"

namespace ucxbench::pingpong {

/// The two ranks that play with each other, and how they agree on counts outside timed regions.
class Pair {
 public:
  /// Ranks 2k and 2k + 1; a single rank with itself.
  explicit Pair(Rendezvous& rendezvous);
  /// The rank's pair in a round of the tournament of all, whose number is even.
  Pair(Rendezvous& rendezvous, std::size_t round);

  Role role() const { return role_; }
  bool leads() const { return role_ != Role::follow; }
  int lead() const { return lead_; }
  int follow() const { return follow_; }
  int peer() const { return leads() ? follow_ : lead_; }
  Rendezvous& rendezvous() { return rendezvous_; }
  /// Of the words, what a connection of this pair and no other round is called.
  std::string name_in_round(const std::string& words) const;

  /// The lead's value on both sides. `progress` moves UCX while waiting.
  Json from_lead(const Json& value, const Rendezvous::Progress& progress);
  /// The follower's value on both sides.
  Json from_follow(const Json& value, const Rendezvous::Progress& progress);
  /// Returns when the other side waits here, too; the follower's last sign comes after the lead's.
  void await_both(const Rendezvous::Progress& progress);
  /// Each side's value on the other.
  Rendezvous::Bytes exchange(const Rendezvous::Bytes& own, const Rendezvous::Progress& progress);
  /// Whether the two read one CLOCK_MONOTONIC. Both call it; they ask each other once.
  bool one_clock(const Rendezvous::Progress& progress);

 private:
  Pair(Rendezvous& rendezvous, int lead, int follow, std::string round);
  Json share(bool mine, const Json& value, const Rendezvous::Progress& progress);

  Rendezvous& rendezvous_;
  std::string round_;  ///< empty where pairs stay
  int lead_, follow_;
  Role role_;
  std::uint64_t exchanges_ = 0;
  std::optional<bool> one_clock_;
};

}  // namespace ucxbench::pingpong
