// What comes over a control connection: from unknown clients, from ranks, and from another host
// that has the token. The first letter says who reads; in lower case the rest stands on the wire as
// it is, else each line is a frame: what it is as JSON, or its bytes where it is none.
//   L, C  the handshake of the side that listens, that connects
//   R     the first supervisor, from its own ranks; the line begins with the digit of the rank
//   H     the first supervisor, from another host
//   F     another host, from the first supervisor

#include "harness/run/wire.hpp"

#include <sys/socket.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bench/cli/plan/orders.hpp"
#include "ci/fuzz/refusal.hpp"
#include "harness/core/read_json.hpp"
#include "harness/launch/channel.hpp"
#include "harness/launch/follower.hpp"
#include "harness/launch/handshake.hpp"
#include "harness/launch/hub.hpp"
#include "harness/launch/remote.hpp"
#include "harness/launch/supervisor.hpp"

namespace {

using namespace ucxbench;

constexpr std::size_t header_bytes = 4;

[[noreturn]] void wrong(const std::string& what) {
  std::cerr << what << "\n";
  std::abort();
}

/// A stream on which `bytes` have come, and then its end. The other end stays open: nobody reads
/// it.
class Arrived {
 public:
  explicit Arrived(std::string_view bytes) {
    std::array<int, 2> ends{};
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) wrong("no socket");
    here_ = Fd(ends[0]);
    there_ = Fd(ends[1]);
    const int room = 1 << 20;
    ::setsockopt(there_.get(), SOL_SOCKET, SO_SNDBUF, &room, sizeof room);
    if (::send(there_.get(), bytes.data(), bytes.size(), MSG_DONTWAIT) !=
        static_cast<ssize_t>(bytes.size())) {
      wrong("no room");
    }
    ::shutdown(there_.get(), SHUT_WR);
  }
  int fd() const { return here_.get(); }
  Fd take() { return std::move(here_); }

 private:
  Fd here_, there_;
};

Seals seals() { return {Seal("one way"), Seal("the other")}; }

/// Values are bytes, which JSON text does not have.
void make_binary(Json& frame) {
  if (!frame.is_object()) return;
  if (const auto value = frame.find("value"); value != frame.end() && value->is_string()) {
    const auto& text = value->get_ref<const std::string&>();
    *value = Json::binary({text.begin(), text.end()});
  }
  if (const auto inner = frame.find("frame"); inner != frame.end()) make_binary(*inner);
}

std::string frame_of(std::string_view line, Seal* seal) {
  std::vector<std::uint8_t> body(line.begin(), line.end());
  auto json = json_or_null(line);
  if (json.is_object()) {
    make_binary(json);
    body = Json::to_cbor(json);
  }
  std::string bytes;
  for (std::size_t i = 0; i < header_bytes; ++i) {
    bytes += static_cast<char>(body.size() >> (8 * i) & 0xffU);
  }
  if (seal != nullptr) {
    const std::vector<std::uint8_t> length(bytes.begin(), bytes.end());
    for (const auto& piece : {length, body}) {
      const auto tag = seal->next(piece);
      bytes.append(tag.begin(), tag.end());
    }
  }
  return bytes.append(body.begin(), body.end());
}

/// By `take`, without the newlines.
template <typename Take>
void each_line(std::string_view text, const Take& take) {
  while (!text.empty()) {
    const auto line = text.substr(0, text.find('\n'));
    take(line);
    text.remove_prefix(std::min(text.size(), line.size() + 1));
  }
}

std::string frames_of(std::string_view text, bool raw) {
  if (raw) return std::string(text);
  auto seal = seals().received;
  std::string bytes;
  each_line(text, [&](std::string_view line) { bytes += frame_of(line, &seal); });
  return bytes;
}

void shake(std::string_view text, Role role) {
  Arrived peer(text);
  bool known = false;
  read_or_refuse(
      [&] {
        shake_hands(peer.fd(), role, {"1.0", "commit", "here"}, "a-token-for-the-fuzzer");
        known = true;
      },
      Exit::cannot_run);
  if (known) wrong("a client without the token was let in");
}

// As a rank's values are read once they are there.
void read_report(int, const std::string&, const Hub::Bytes& value) { from_bytes(value); }

void from_ranks(std::string_view text, bool raw) {
  constexpr int ranks = 2;
  std::array<std::string, ranks> bytes;
  if (raw) {
    bytes[0] = text;
  } else {
    each_line(text, [&](std::string_view line) {
      if (!line.empty()) bytes.at(line[0] == '1' ? 1 : 0) += frame_of(line.substr(1), nullptr);
    });
  }
  Hub hub(ranks, {{"plan", {1, 2, 3}}}, read_report);
  for (int rank = 0; rank < ranks; ++rank) {
    Arrived peer(bytes.at(static_cast<std::size_t>(rank)));
    Channel channel(peer.take());
    read_or_refuse(
        [&] {
          while (const auto frame = channel.receive()) hub.handle(rank, *frame);
        },
        Exit::lost);
  }
}

std::unique_ptr<RemoteSupervisor> other_host(Arrived& peer) {
  return std::make_unique<RemoteSupervisor>(peer.take(), Greeted{"there", seals()});
}

Signals& signals() {
  static Signals once;
  return once;
}

void from_host(std::string_view text, bool raw) {
  Arrived peer(frames_of(text, raw));
  RemoteSupervisors others;
  others.push_back(other_host(peer));
  Launch launch;
  launch.hosts = {1, 1};
  launch.told = {Json::object()};
  launch.on_report = read_report;
  launch.timeout = std::chrono::seconds(5);
  run_launch(launch, signals(), others);
}

void from_first(std::string_view text, bool raw) {
  Arrived peer(frames_of(text, raw));
  const auto first = other_host(peer);
  follow_launches(
      *first,
      [](const Json& told, int) -> std::vector<RankCommand> {
        orders_from_json(told);
        throw Failure(Exit::cannot_run, "nothing is started here");
      },
      [](const auto& question) { return question; }, signals());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return -1;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  const bool raw = data[0] >= 'a';
  switch (raw ? data[0] - 'a' + 'A' : data[0]) {
    case 'L':
      shake(text, Role::listener);
      return 0;
    case 'C':
      shake(text, Role::connector);
      return 0;
    case 'R':
      from_ranks(text, raw);
      return 0;
    case 'H':
      from_host(text, raw);
      return 0;
    case 'F':
      from_first(text, raw);
      return 0;
    default:
      return -1;
  }
}
