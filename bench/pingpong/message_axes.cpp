#include "bench/pingpong/message_axes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "bench/pingpong/parameters.hpp"
#include "bench/pingpong/refusal.hpp"
#include "harness/core/failure.hpp"
#include "harness/core/names.hpp"

namespace ucxbench::pingpong {
namespace {

constexpr Names<RegisterBy, 2> registering = {
    {{RegisterBy::ucx, "ucx", "its own"}, {RegisterBy::user, "user", "of ucp_mem_map"}}};
constexpr Names<Receives, 2> kinds_of_receives = {
    {{Receives::expected, "expected", "posted as early as the window allows"},
     {Receives::unexpected, "unexpected", "when the message is there"}}};
struct NamedLayout {
  std::string_view name, about;
};
constexpr NamedLayout layouts[] = {
    {"contiguous", ""}, {"iov:4", "a list of 4 parts; sizes of fewer bytes are left out"}};
constexpr std::string_view iov = "iov:";
constexpr int most_entries = 1024;
constexpr int most_header_bytes = 65536;  // more than any transport of UCX takes

void check_error_mode(const Parameters& p) {
  if (p.error_mode == ErrorMode::none) return;
  refuse_other_devices(p, "--error-mode peer");
}

void check_layout(const Parameters& p) {
  const auto entries = p.layout.entries;
  if (entries == 0) return;
  const auto option = fmt::format("--buffer {}", to_string(p.layout));
  refuse_other_devices(p, option);
  if (is_one_sided(p.api)) {
    refuse(option, fmt::format("--api {} takes contiguous memory; use tag, stream or am",
                               to_string(p.api)));
  }
  if (p.buffers == Buffers::cold)
    refuse(option, "one list serves all messages; use --buffers warm");
  if (on_gpu_or_pinned(p)) refuse(option, "it is of host memory here; leave --memory out");
}

void check_registration(const Parameters& p) {
  if (p.register_by == RegisterBy::ucx) return;
  constexpr const char* option = "--register user";
  refuse_other_devices(p, option);
  if (p.api == Api::stream || is_atomic(p.api)) {
    refuse(option, fmt::format("--api {} gives UCX no memory handle; use tag, am, put or get",
                               to_string(p.api)));
  }
  if (p.layout.entries > 0) {
    refuse(option, "one memory handle is of contiguous memory; use --buffer contiguous");
  }
  if (on_gpu_or_pinned(p)) refuse(option, "it is of host memory here; leave --memory out");
  if (p.no_pool) refuse(option, "memory that stays is registered; leave --no-pool out");
}

void check_receives(const Parameters& p) {
  using Kind = ProgressMode::Kind;
  if (p.receives == Receives::expected) return;
  constexpr const char* option = "--receives unexpected";
  refuse_other_devices(p, option);
  if (p.api != Api::tag) {
    refuse(option, fmt::format("--api {} matches no receives with messages; use --api tag",
                               to_string(p.api)));
  }
  if (p.progress.kind == Kind::thread) {
    refuse(option, "nothing wakes the waiting thread; use --progress-mode poll, event or periodic");
  }
  if (p.ranks == 1) refuse(option, "a rank alone waits for itself; use two ranks");
}

void check_header(const Parameters& p) {
  if (p.header_bytes == 0) return;
  const auto option = fmt::format("--header {}", p.header_bytes);
  refuse_other_devices(p, option);
  if (p.api != Api::am) {
    refuse(option, fmt::format("--api {} has no header; use --api am", to_string(p.api)));
  }
}

Json layout_of(const MessageAxes& axes) { return json_of(to_string(axes.layout)); }
void set_layout(MessageAxes& axes, const Json& name) { axes.layout = parse_layout(text_in(name)); }

}  // namespace

Layout parse_layout(std::string_view name) {
  if (name == "contiguous") return {};
  if (name.starts_with(iov)) {
    const auto number = name.substr(iov.size());
    int entries = 0;
    const auto [end, error] =
        std::from_chars(number.data(), number.data() + number.size(), entries);
    const bool whole = error == std::errc{} && end == number.data() + number.size();
    if (whole && entries >= 1 && entries <= most_entries) return {.entries = entries};
  }
  throw Failure(Exit::usage, fmt::format("'{}': expected contiguous, or iov:N with N of 1 to {}",
                                         name, most_entries));
}

std::string to_string(Layout layout) {
  return layout.entries == 0 ? "contiguous" : fmt::format("{}{}", iov, layout.entries);
}

Fields<MessageAxes> message_axes_fields() {
  return {
      choice_field(&MessageAxes::error_mode, error_mode_names, "error mode",
                   {.name = "error-mode",
                    .help = "of endpoints: {}, or a list",
                    .group = "load",
                    .type_name = "MODE,..",
                    .key = Key::if_unusual,
                    .axis = Axis::cases,
                    .apart = true}),
      computed_field<MessageAxes>(FieldType::choice, layout_of, set_layout,
                                  with_choices(layouts, {.name = "buffer",
                                                         .help = "of each message: {}, or a list",
                                                         .group = "load",
                                                         .type_name = "LAYOUT,..",
                                                         .key = Key::if_unusual,
                                                         .axis = Axis::cases})),
      choice_field(&MessageAxes::register_by, registering, "way to register",
                   {.name = "register",
                    .help = "whose memory handle a request has: {}, or a list",
                    .group = "load",
                    .type_name = "WHO,..",
                    .key = Key::if_unusual,
                    .axis = Axis::cases}),
      choice_field(&MessageAxes::receives, kinds_of_receives, "kind of receives",
                   {.name = "receives",
                    .help = "of tags: {}, or a list",
                    .group = "load",
                    .type_name = "KIND,..",
                    .key = Key::if_unusual,
                    .axis = Axis::cases}),
      number_field(&MessageAxes::header_bytes,
                   {.name = "header",
                    .parameter = "header_bytes",
                    .help = "bytes of the header of each active message, or a list: 0,64",
                    .group = "load",
                    .type_name = "BYTES,..",
                    .least = 0,
                    .most = most_header_bytes,
                    .key = Key::if_unusual,
                    .axis = Axis::cases,
                    .null_if_empty = true,
                    .apart = true}),
  };
}

std::string message_axes_told(const Json& parameters) {
  static const auto fields = message_axes_fields();
  static const MessageAxes usual;
  std::string told;
  for (const auto& field : fields.all) {
    const auto value = parameters.find(field.recorded_name());
    if (value == parameters.end() || *value == field.read(&usual)) continue;
    auto name = field.recorded_name();
    std::ranges::replace(name, '_', ' ');
    told += fmt::format(", {} {}", name, text_of(field, *value));
  }
  return told;
}

void check_message_axes(const Parameters& p) {
  check_error_mode(p);
  check_layout(p);
  check_registration(p);
  check_receives(p);
  check_header(p);
}

}  // namespace ucxbench::pingpong
