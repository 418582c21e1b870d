#pragma once

#include <string>
#include <string_view>

#include "harness/comm/choices.hpp"
#include "harness/core/field.hpp"

namespace ucxbench::pingpong {

struct Parameters;

/// --buffer: one piece of memory, or an I/O vector of so many parts.
struct Layout {
  int entries = 0;  ///< 0: contiguous
  bool operator==(const Layout&) const = default;
};
Layout parse_layout(std::string_view name);  ///< "contiguous", "iov:4"
std::string to_string(Layout layout);

/// --register: whose memory handle goes with each request; UCX's own comes from its cache.
enum class RegisterBy { ucx, user };

/// --receives: as early as the window allows; or once UCX has the message.
enum class Receives { expected, unexpected };

/// How UCX is told of each message, and what its endpoint promises. By default as ucx_perftest does
/// without options; each of these is an option there, too.
struct MessageAxes {
  ErrorMode error_mode = ErrorMode::none;
  Layout layout{};
  RegisterBy register_by = RegisterBy::ucx;
  Receives receives = Receives::expected;
  int header_bytes = 0;  ///< of active messages

  bool operator==(const MessageAxes&) const = default;
};
Fields<MessageAxes> message_axes_fields();

/// For a case's title, from its parameters: those that are not the default, ", buffer iov:4".
std::string message_axes_told(const Json& parameters);

/// Throws Failure(Exit::usage) for what UCX or this program cannot do together.
void check_message_axes(const Parameters& parameters);

}  // namespace ucxbench::pingpong
