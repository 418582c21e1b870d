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

  Role role() const { return role_; }
  bool leads() const { return role_ != Role::follow; }
  int lead() const { return lead_; }
  int follow() const { return follow_; }
  int peer() const { return leads() ? follow_ : lead_; }
  Rendezvous& rendezvous() { return rendezvous_; }

  /// The lead's value on both sides. `progress` moves UCX while waiting.
  Json from_lead(const Json& value, const Rendezvous::Progress& progress);
  /// The follower's value on both sides.
  Json from_follow(const Json& value, const Rendezvous::Progress& progress);
  /// Each side's value on the other.
  Rendezvous::Bytes exchange(const Rendezvous::Bytes& own, const Rendezvous::Progress& progress);
  /// Whether the two read one CLOCK_MONOTONIC. Both call it; they ask each other once.
  bool one_clock(const Rendezvous::Progress& progress);

 private:
  Json share(bool mine, const Json& value, const Rendezvous::Progress& progress);

  Rendezvous& rendezvous_;
  int lead_, follow_;
  Role role_;
  std::uint64_t exchanges_ = 0;
  std::optional<bool> one_clock_;
};

}  // namespace ucxbench::pingpong
