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

void Verifier::compare(std::string_view when) {
  if (p_.check == Check::off) return;
  check(payload_seed(bench_.pair.peer(), p_.bytes, 0), when);
  bench_.receive.zero(p_.bytes);
}

void Verifier::check(std::uint64_t seed, std::string_view when) {
  ++verified_.checked;
  const auto wrong = bench_.receive.mismatch(p_.bytes, seed);
  if (!wrong) return;
  ++verified_.errors;
  if (!error_.empty()) return;
  error_ = fmt::format(
      "wrong data at byte offset {} of {}: rank {} received from rank {} by {}, {}", *wrong,
      p_.bytes, bench_.pair.rendezvous().rank(), bench_.pair.peer(), to_string(p_.api), when);
}

void Verifier::exchange_checked_messages() {
  if (p_.check == Check::off) return;
  bench_.loops.use({bench_.send.data(), bench_.receive.data(), p_.bytes, 1, false});
  for (std::uint64_t round = 1; round <= rounds(p_.check, p_.bytes); ++round) {
    const auto own = bench_.pair.rendezvous().rank();
    bench_.send.fill(p_.bytes, payload_seed(own, p_.bytes, round));
    bench_.receive.zero(p_.bytes);
    bench_.loops.meet();
    bench_.loops.round_trips(1, nullptr);
    check(payload_seed(bench_.pair.peer(), p_.bytes, round),
          fmt::format("checked message {}", round));
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
