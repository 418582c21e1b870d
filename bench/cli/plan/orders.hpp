#pragma once

#include <nlohmann/json.hpp>

#include "bench/cli/plan/binding.hpp"
#include "harness/launch/environment.hpp"
#include "harness/transports/transport_set.hpp"

namespace ucxbench {

/// What another host is told of a launch, to start its ranks from (Launch::told).
struct Orders {
  TransportSet set;
  Variables settings;        ///< of the set
  Variables ucx;             ///< of --ucx
  int busy_threads = 1;      ///< that a rank has
  int peers = 1;             ///< of one rank
  int first_on_machine = 0;  ///< RankCommand::on_machine of its first rank
  Seat seat;                 ///< its index and of how many
};

nlohmann::json to_json(const Orders& orders);

/// Throws Failure: Exit::usage for a setting that a peer may not make (check_peer_settings), and
/// Exit::lost for what no listener of ours says.
Orders orders_from_json(const nlohmann::json& json);

/// Throws Failure(Exit::lost) for a number of ranks on one host that nobody has.
void check_ranks_told(int ranks);

}  // namespace ucxbench
