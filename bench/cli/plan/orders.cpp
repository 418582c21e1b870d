#include "bench/cli/plan/orders.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string>

#include "harness/core/failure.hpp"
#include "harness/transports/peer_settings.hpp"

namespace ucxbench {
namespace {

// More than these numbers will be.
constexpr int most_ranks_told = 1 << 16;
constexpr int most_hosts_told = 1 << 10;

int number(const nlohmann::json& json, const char* name, int least, int most = most_ranks_told) {
  const auto& value = json.at(name);
  if (value.is_number_integer() && value >= least && value <= most) return value.get<int>();
  throw Failure(Exit::lost, fmt::format("the listening side sent an invalid '{}'", name));
}

}  // namespace

nlohmann::json to_json(const Orders& orders) {
  return {{"set", fmt::format("{}", fmt::join(orders.set.members(), ","))},
          {"settings", orders.settings},
          {"ucx", orders.ucx},
          {"busy_threads", orders.busy_threads},
          {"peers", orders.peers},
          {"first_on_machine", orders.first_on_machine},
          {"seat", {{"index", orders.seat.index}, {"of", orders.seat.of}}}};
}

Orders orders_from_json(const nlohmann::json& json) try {
  Orders orders;
  orders.settings = json.at("settings").get<Variables>();
  orders.ucx = json.at("ucx").get<Variables>();
  check_peer_settings(orders.settings);
  check_peer_settings(orders.ucx);
  orders.set = TransportSet::parse(json.at("set").get<std::string>());
  orders.busy_threads = number(json, "busy_threads", 1);
  orders.peers = number(json, "peers", 0);
  orders.first_on_machine = number(json, "first_on_machine", 0);
  const auto& seat = json.at("seat");
  orders.seat = {.index = number(seat, "index", 0), .of = number(seat, "of", 1, most_hosts_told)};
  if (orders.seat.index >= orders.seat.of) {
    throw Failure(Exit::lost, "the listening side sent an invalid 'seat'");
  }
  return orders;
} catch (const nlohmann::json::exception& error) {
  throw Failure(Exit::lost,
                fmt::format("the listening side sent malformed orders ({})", error.what()));
}

void check_ranks_told(int ranks) {
  if (ranks >= 1 && ranks <= most_ranks_told) return;
  throw Failure(Exit::lost, "the listening side sent an invalid number of ranks");
}

}  // namespace ucxbench
