#include "bench/cold/messages.hpp"

#include <fmt/format.h>

#include "harness/core/pattern.hpp"

namespace ucxbench::cold {

double Messages::timed(Buffer& buffer, std::uint64_t bytes) {
  const auto seed = payload_seed(peer_, bytes, ++round_);
  if (sends_) buffer.fill(bytes, seed);
  use(buffer, bytes);
  std::uint64_t ticks = 0;
  exchange([&] {
    const auto start = clock_.ticks();
    link_.send();
    link_.await_signal();
    ticks = clock_.ticks() - start;
    link_.wait_sends();
  });
  if (!sends_) compare(buffer, bytes, seed);
  return clock_.us(ticks);
}

std::string Messages::described(Buffer& buffer, std::uint64_t bytes) {
  use(buffer, bytes);
  std::string words;
  exchange([&] {
    words = link_.send_described();
    link_.await_signal();
  });
  return words;
}

void Messages::uncounted(Buffer& buffer, std::uint64_t bytes, std::uint64_t count) {
  use(buffer, bytes);
  if (sends_) {
    link_.await_signal();
    for (std::uint64_t i = 0; i < count; ++i) link_.send();
    link_.wait_sends();
    link_.await_signal();
  } else {
    link_.signal();
    for (std::uint64_t i = 0; i < count; ++i) {
      link_.receive();
      link_.wait_receives();
    }
    link_.signal();
  }
}

void Messages::use(Buffer& buffer, std::uint64_t bytes) {
  link_.use({.send = sends_ ? buffer.data() : nullptr,
             .receive = sends_ ? nullptr : buffer.data(),
             .bytes = bytes});
}

void Messages::exchange(const std::function<void()>& send) {
  if (sends_) {
    link_.await_signal();
    send();
  } else {
    link_.receive();
    link_.signal();
    link_.wait_receives();
    link_.signal();
  }
}

void Messages::compare(const Buffer& buffer, std::uint64_t bytes, std::uint64_t seed) {
  const auto wrong = buffer.mismatch(bytes, seed);
  checks_.add(wrong ? fmt::format("wrong data at byte offset {} of {}: rank {} received from rank "
                                  "0, message {}",
                                  *wrong, bytes, peer_, round_)
                    : "");
}

}  // namespace ucxbench::cold
