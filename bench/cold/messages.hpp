#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "harness/comm/ucx_links.hpp"
#include "harness/core/clock.hpp"
#include "harness/memory/buffer.hpp"
#include "harness/run/checks.hpp"

namespace ucxbench::cold {

/// Single messages from rank 0 to one peer, timed and verified. Both sides call the same functions
/// in the same order; rank 0's links share a worker, so one pair plays at a time.
class Messages {
 public:
  using Link = TagLink<PollOrEventProgress>;

  Messages(Link& link, const Clock& clock, bool sends, int peer)
      : link_(link), clock_(clock), sends_(sends), peer_(peer) {}

  bool sends() const { return sends_; }

  /// The first `bytes` of `buffer`, with a content of their own. On rank 0, the microseconds from
  /// the post of the send to the arrival of a one-byte answer, which the peer sends when it has the
  /// message; its receive was posted before. What arrived is compared outside that time.
  double timed(Buffer& buffer, std::uint64_t bytes);

  /// One message more; on rank 0, how UCX says that it went.
  std::string described(Buffer& buffer, std::uint64_t bytes);

  /// `count` messages more, without answers in between.
  void uncounted(Buffer& buffer, std::uint64_t bytes, std::uint64_t count);

  /// What this side has compared.
  const Checks& checks() const { return checks_; }

 private:
  void use(Buffer& buffer, std::uint64_t bytes);
  /// `send` on rank 0, one receive on the peer, each side knowing that the other is ready.
  void exchange(const std::function<void()>& send);
  void compare(const Buffer& buffer, std::uint64_t bytes, std::uint64_t seed);

  Link& link_;
  const Clock& clock_;
  bool sends_;
  int peer_;
  std::uint64_t round_ = 0;
  Checks checks_;
};

}  // namespace ucxbench::cold
