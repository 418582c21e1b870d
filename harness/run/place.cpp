#include "harness/run/place.hpp"

#include <algorithm>

namespace ucxbench {
namespace {

constexpr double most_ranks = 1024;

Field one_ranks_field(const std::string& help, Key key) {
  return {.name = "ranks",
          .aliases = "-n",
          .help = help,
          .group = "ranks",
          .least = 1,
          .most = most_ranks,
          .key = key};
}

}  // namespace

bool uses_gpu(const Place& place) {
  return std::ranges::any_of(place.memory,
                             [](const auto& kind) { return on_gpu(parse_memory_kind(kind)); });
}

Fields<Place> place_fields() {
  return {texts_field(&Place::memory,
                      {.name = "memory", .key = Key::bare, .asked = false, .separator = "-"}),
          texts_field(&Place::transports,
                      {.name = "transports", .key = Key::bare, .asked = false, .separator = "+"}),
          text_field(&Place::net_devices, {.name = "net-devices", .asked = false})};
}

Fields<Place> ranks_field(const std::string& help, Key key) {
  return number_field(&Place::ranks, one_ranks_field(help, key));
}

Fields<Place> ranks_list_field(Key key) {
  auto field = one_ranks_field("processes; several numbers are measured one by one: 1,2,4", key);
  field.axis = Axis::launches;
  return number_field(&Place::ranks, std::move(field));
}

Fields<Place> connect_by_field() {
  return choice_field(&Place::connect_by, parse_connect_by,
                      {.name = "connect-by",
                       .help = "address | sockaddr (a UCP listener)",
                       .group = "ranks",
                       .type_name = "WAY",
                       .key = Key::if_unusual});
}

Fields<Place> devices_field() {
  return numbers_field(&Place::devices,
                       {.name = "devs",
                        .parameter = "devices",
                        .help = "GPUs of the ranks, round again: 0-3,7 (default: all)",
                        .group = "place",
                        .null_if_empty = true});
}

Fields<Place> pool_size_field() {
  return size_field(&Place::pool_bytes,
                    {.name = "rmm-pool-size",
                     .parameter = "pool_bytes",
                     .help = "GPU memory allocated at once (default: what is needed)",
                     .group = "place",
                     .null_if_empty = true});
}

Fields<Place> no_pool_field() {
  return flag_field(&Place::no_pool, {.name = "no-pool",
                                      .help = "each buffer an allocation of its own",
                                      .group = "place",
                                      .key = Key::if_unusual,
                                      .key_text = "pool=none"});
}

}  // namespace ucxbench
