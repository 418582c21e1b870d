#include "bench/pingpong/verify.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "harness/core/pattern.hpp"
#include "harness/core/units.hpp"

namespace ucxbench::pingpong {
namespace {

std::uint64_t rounds(Check check, std::uint64_t bytes) {
  const bool small = bytes <= (1U << 20U);
  return check == Check::full ? (small ? 32 : 4) : (small ? 4 : 1);
}

}  // namespace

Verifier::Verifier(const Bench& bench, const Parameters& parameters,
                   const Rendezvous::Progress& progress)
    : bench_(bench), p_(parameters), progress_(progress) {}

void Verifier::fill() {
  bench_.send.fill(p_.bytes, payload_seed(bench_.pair.rendezvous().rank(), p_.bytes, 0));
  bench_.receive.zero(p_.bytes);
}

void Verifier::compare(Loops& loops, std::string_view when) {
  if (p_.check == Check::off) return;
  if (is_atomic(p_.api)) return check_value(loops, when);
  // The last byte of a put is its number.
  check(payload_seed(bench_.pair.peer(), p_.bytes, 0), p_.bytes - (p_.api == Api::put ? 1 : 0),
        when);
  bench_.receive.zero(p_.bytes);
}

void Verifier::check_value(Loops& loops, std::string_view when) {
  ++verified_.checked;
  const auto wrong = loops.one_sided()->wrong_value();
  if (wrong.empty()) return;
  ++verified_.errors;
  if (error_.empty()) error_ = fmt::format("wrong value: {}, {}", wrong, when);
}

void Verifier::check(std::uint64_t seed, std::uint64_t bytes, std::string_view when) {
  ++verified_.checked;
  const auto wrong = bench_.receive.mismatch(bytes, seed);
  if (!wrong) return;
  ++verified_.errors;
  if (!error_.empty()) return;
  error_ = fmt::format(
      "wrong data at byte offset {} of {}: rank {} received from rank {} by {}, {}", *wrong,
      p_.bytes, bench_.pair.rendezvous().rank(), bench_.pair.peer(), to_string(p_.api), when);
}

void Verifier::exchange_checked_messages() {
  if (p_.check == Check::off) return;
  bench_.loops.use(bench_.buffers(p_.bytes, 1, false));
  for (std::uint64_t round = 1; round <= rounds(p_.check, p_.bytes); ++round) {
    const auto own = bench_.pair.rendezvous().rank();
    auto* one_sided = bench_.loops.one_sided();
    const auto what = fmt::format("checked message {}", round);
    if (is_atomic(p_.api)) {
      bench_.loops.meet();  // the target has looked at what the round before left
      one_sided->exchange(round);
      check_value(bench_.loops, what);
      continue;
    }
    bench_.send.fill(p_.bytes, payload_seed(own, p_.bytes, round));
    bench_.receive.zero(p_.bytes);
    bench_.loops.meet();
    if (one_sided != nullptr) {
      one_sided->exchange(round);
    } else {
      bench_.loops.round_trips(1, nullptr);
    }
    check(payload_seed(bench_.pair.peer(), p_.bytes, round), p_.bytes, what);
  }
}

std::pair<Verified, std::string> Verifier::outcome() {
  const auto follow = bench_.pair.from_follow(
      {{"checked", verified_.checked}, {"errors", verified_.errors}, {"error", error_}}, progress_);
  if (bench_.pair.role() != Role::lead) return {verified_, error_};
  const auto follow_error = follow.at("error").get<std::string>();
  return {{verified_.checked + follow.at("checked").get<std::uint64_t>(),
           verified_.errors + follow.at("errors").get<std::uint64_t>()},
          error_.empty() ? follow_error : error_};
}

}  // namespace ucxbench::pingpong
