#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "harness/report/view.hpp"

namespace ucxbench {

/// Of ViewKind::first_messages, what the first message costs: one row per measured size and number
/// of peers.
Grid first_messages_of(const Block& block);

/// "1 peer: 4 KiB after 12 transfers (9..20), 64 KiB ? (after 3 transfers or more, or never); …",
/// where the numbers follow from the farther ends of the intervals of all that PoolCosts has; empty
/// when nothing is known.
std::string pool_pays(const Block& block);

/// What decides when a pool has paid, in microseconds.
struct PoolCosts {
  double pool_us = 0;        ///< making the pool
  double pool_first_us = 0;  ///< the first message out of a new pool, to each peer
  double pooled_us = 0;      ///< the first message of a further buffer of it
  double allocate_us = 0;    ///< without a pool, each transfer: making an allocation
  double fresh_us = 0;       ///< its first message
  double release_us = 0;     ///< giving it back
  int peers = 1;
};

/// After how many transfers, each of a new buffer to one of the peers, a pool has cost less than
/// allocations of their own:
///
///     ceil((pool + peers · (pool_first - pooled)) / (allocate + fresh + release - pooled))
///
/// that is what making it and touching it first costs more, over what each transfer saves. 0 when
/// it costs nothing more, empty when it saves nothing.
std::optional<std::uint64_t> transfers_until_paid(const PoolCosts& costs);

}  // namespace ucxbench
