#include "harness/run/place.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <utility>

#include "harness/core/failure.hpp"

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

Json progress_mode(const Place& place) { return json_of(place.progress.name()); }

void set_progress_mode(Place& place, const Json& name) {
  place.progress = ProgressMode::parse(text_in(name));
}

void set_poll_or_event(Place& place, const Json& name) {
  set_progress_mode(place, name);
  using Kind = ProgressMode::Kind;
  const auto kind = place.progress.kind;
  if (kind == Kind::by_cpus || kind == Kind::poll || kind == Kind::event) return;
  throw Failure(Exit::usage, fmt::format("'{}': here ranks wait by poll or event", text_in(name)));
}

Fields<Place> field_of_progress(std::span<const Named<ProgressMode::Kind>> modes,
                                void (*set)(Place&, const Json&), Axis axis) {
  return computed_field<Place>(FieldType::choice, progress_mode, set,
                               with_choices(modes, {.name = "progress-mode",
                                                    .help = "how ranks wait: {}, or a list",
                                                    .group = "ranks",
                                                    .type_name = "MODE,..",
                                                    .key = Key::if_unusual,
                                                    .axis = axis,
                                                    .usual = "auto"}));
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

Fields<Place> comm_field() {
  return choice_field(&Place::comm, comm_names, "communication device",
                      {.name = "comm",
                       .help = "what moves messages: {}, or a list",
                       .group = "ranks",
                       .type_name = "NAME,..",
                       .key = Key::if_unusual,
                       .axis = Axis::launches});
}

Fields<Place> connect_by_field() {
  return choice_field(&Place::connect_by, connect_by_names, "way to connect",
                      {.name = "connect-by",
                       .help = "{}",
                       .group = "ranks",
                       .type_name = "WAY",
                       .key = Key::if_unusual});
}

Fields<Place> progress_mode_field() {
  return field_of_progress(std::span(progress_mode_names).first<3>(), set_poll_or_event,
                           Axis::launches);
}

Fields<Place> progress_modes_field() {
  return field_of_progress(progress_mode_names, set_progress_mode, Axis::cases);
}

Fields<Place> devices_field() {
  return numbers_field(&Place::devices, {.name = "devs",
                                         .parameter = "devices",
                                         .help = "GPUs of the ranks, in turn: 0-3,7 (default: all)",
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
